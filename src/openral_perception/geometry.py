"""From a pixel and a depth image to a point in the world, with its covariance.

Pixel coordinates (u, v) [px] are continuous and count from the left and upper edge of the image: pixel (row i, column
j) covers u in [j, j + 1) and v in [i, i + 1). The intrinsics of the bridge's `camera_info` use the same coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import OpenralError


class NotLocatedError(OpenralError):
    """Raised when no point can be given; the text is one sentence with the reason."""


@dataclass(frozen=True)
class PinholeCamera:
    """A camera without distortion: its intrinsics and its pose in the world."""

    width: int
    """[px]"""
    height: int
    """[px]"""
    fx: float
    """[px] focal length along u."""
    fy: float
    """[px] focal length along v."""
    cx: float
    """[px] u of the optical axis."""
    cy: float
    """[px] v of the optical axis."""
    position: NDArray[np.float64]
    """(3,) [m] in the world."""
    rotation: NDArray[np.float64]
    """(3, 3) columns are the axes of the optical frame (x right, y down, z forward; REP 103) in the world."""

    def project(self, point: NDArray[np.float64]) -> tuple[float, float, float]:
        """Return u [px], v [px] and depth [m] of a point (3,) [m] in the world; behind the camera depth is negative."""
        x, y, z = self.rotation.T @ (np.asarray(point) - self.position)
        return float(self.cx + self.fx * x / z), float(self.cy + self.fy * y / z), float(z)

    def unproject(self, u: float, v: float, depth_m: float) -> NDArray[np.float64]:
        """Return the point (3,) [m] in the world that is seen at a pixel at a depth [m] along the optical axis."""
        ray = np.array([(u - self.cx) / self.fx, (v - self.cy) / self.fy, 1.0])
        return self.position + self.rotation @ (depth_m * ray)


@dataclass(frozen=True)
class DepthSettings:
    """Which depth values are used, and their uncertainties."""

    radius_px: int = 2
    """[px] on each side of the pixel that its neighbourhood reaches: 2 gives 5 x 5 pixels."""
    quantile: float = 0.5
    """Quantile of the neighbourhood's depths at which the wanted surface lies: 0.5 is the median; less is for objects
    that are smaller than the neighbourhood and in front of their surroundings."""
    near_m: float = 0.05
    """[m] least depth that counts as a measurement."""
    far_m: float = 4.0
    """[m] greatest depth that is trusted."""
    surface_m: float = 0.02
    """[m] greatest distance from the quantile of depths on the same surface, unless `surface_share` gives more."""
    surface_share: float = 0.02
    """The same distance as a share of the quantile."""
    least_valid: float = 0.5
    """Least share of the neighbourhood's pixels that must have depth."""
    least_surface: float = 0.6
    """Least share of the neighbourhood's pixels that must be on the same surface; with fewer the pixel is on an edge.
    """
    pixel_sigma: float = 0.5
    """[px] standard deviation of u and of v."""
    depth_sigma_m: float = 0.001
    """[m] standard deviation of one depth, in addition to the spread of the neighbourhood."""
    position_sigma_m: float = 0.002
    """[m] standard deviation of the camera's position, for each axis."""
    rotation_sigma_rad: float = 0.002
    """[rad] standard deviation of the camera's rotation, about each axis."""


TRUSTED = DepthSettings()
"""Default settings."""


@dataclass(frozen=True)
class LocatedPoint:
    """A point in the world, and its uncertainty."""

    position: NDArray[np.float64]
    """(3,) [m] in the world."""
    covariance: NDArray[np.float64]
    """(3, 3) [m^2]"""
    depth_m: float
    """[m] along the optical axis."""
    confidence: float
    """Share of the neighbourhood's pixels whose depth is on this surface, 0 to 1."""


def locate_pixel(
    camera: PinholeCamera,
    depth: NDArray[np.float32],
    u: float,
    v: float,
    settings: DepthSettings = TRUSTED,
    *,
    pixel_sigma: float | None = None,
    inward_m: float = 0.0,
) -> LocatedPoint:
    """Return the point of the surface that a pixel shows.

    With the default settings, the depth is the median of the pixel's neighbourhood, of those values that lie on the
    median's surface. With p = d ((u - cx) / fx, (v - cy) / fy, 1) in the optical frame, the covariance is
    J diag(su^2, sv^2, sd^2) J^T with J = dp / d(u, v, d), turned into the world, plus that of the camera's pose:
    sp^2 I + sr^2 (|r|^2 I - r r^T) for the vector r from the camera to the point.

    Args:
        camera: of the depth image.
        depth: (H, W) [m] along the optical axis; nan, inf and values <= 0 are no measurements.
        u: [px]
        v: [px]
        settings: which depth is used, and the uncertainties.
        pixel_sigma: [px] standard deviation of u and v in place of that of the settings.
        inward_m: [m] how far behind the surface, along the ray, the wanted point lies.

    Raises:
        NotLocatedError: the pixel is outside the image or at its border, has no depth, is farther than `far_m`, or lies
            on an edge; or the depth image and the camera differ in size.
    """
    window = _neighbourhood(camera, depth, u, v, settings.radius_px)
    known = window[np.isfinite(window) & (window > settings.near_m)]
    if known.size < settings.least_valid * window.size:
        raise NotLocatedError(
            f"only {known.size} of {window.size} pixels around ({u:.0f}, {v:.0f}) have depth; name another pixel"
        )
    median = float(np.quantile(known, settings.quantile))
    if median > settings.far_m:
        raise NotLocatedError(
            f"what is seen at ({u:.0f}, {v:.0f}) is {median:.2f} m away; depth is trusted to {settings.far_m:g} m"
        )
    same = max(settings.surface_m, settings.surface_share * median)
    surface = known[np.abs(known - median) <= same]
    if surface.size < settings.least_surface * window.size:
        raise NotLocatedError(
            f"({u:.0f}, {v:.0f}) lies on an edge: depth around it goes from {known.min():.2f} to {known.max():.2f} m; "
            "name a pixel in the middle of the thing"
        )
    found = float(np.median(surface))
    sigma_m = float(np.hypot(np.std(surface), settings.depth_sigma_m))
    pixel = settings.pixel_sigma if pixel_sigma is None else pixel_sigma
    point = camera.unproject(u, v, found)
    if inward_m:
        ray = point - camera.position
        point = point + inward_m * ray / np.linalg.norm(ray)
    covariance = _covariance(camera, u, v, found, (pixel, sigma_m), point - camera.position, settings)
    return LocatedPoint(point, covariance, found, surface.size / window.size)


def _neighbourhood(
    camera: PinholeCamera, depth: NDArray[np.float32], u: float, v: float, radius: int
) -> NDArray[np.float64]:
    if depth.shape != (camera.height, camera.width):
        raise NotLocatedError(
            f"the depth image is {depth.shape[1]}x{depth.shape[0]}, its camera_info says {camera.width}x{camera.height}"
        )
    if not (np.isfinite(u) and np.isfinite(v) and 0.0 <= u < camera.width and 0.0 <= v < camera.height):
        raise NotLocatedError(
            f"the pixel ({u:.0f}, {v:.0f}) is outside the picture, which is {camera.width}x{camera.height}"
        )
    row, column = int(v), int(u)
    inside = radius <= row < camera.height - radius and radius <= column < camera.width - radius
    if not inside:
        raise NotLocatedError(
            f"the pixel ({u:.0f}, {v:.0f}) is within {radius} px of the picture's border; name one further inside"
        )
    rows, columns = slice(row - radius, row + radius + 1), slice(column - radius, column + radius + 1)
    return depth[rows, columns].astype(np.float64).reshape(-1)


def _covariance(
    camera: PinholeCamera,
    u: float,
    v: float,
    depth_m: float,
    sigmas: tuple[float, float],
    offset: NDArray[np.float64],
    settings: DepthSettings,
) -> NDArray[np.float64]:
    x, y = (u - camera.cx) / camera.fx, (v - camera.cy) / camera.fy
    jacobian = np.array([[depth_m / camera.fx, 0.0, x], [0.0, depth_m / camera.fy, y], [0.0, 0.0, 1.0]])
    pixel, sigma_m = sigmas
    seen = camera.rotation @ jacobian @ np.diag([pixel**2, pixel**2, sigma_m**2])
    turned: NDArray[np.float64] = seen @ jacobian.T @ camera.rotation.T
    swing = (offset @ offset) * np.eye(3) - np.outer(offset, offset)
    pose = settings.position_sigma_m**2 * np.eye(3) + settings.rotation_sigma_rad**2 * swing
    return turned + pose
