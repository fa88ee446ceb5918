"""Locates what words or a pixel name as a point in the world, from one view of a camera and a detector."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import ContractError
from openral_core.image_message import is_dark
from openral_core.types import Image
from openral_perception.detection import FITS, Detection, ObjectDetector
from openral_perception.geometry import (
    TRUSTED,
    DepthSettings,
    LocatedPoint,
    NotLocatedError,
    PinholeCamera,
    locate_pixel,
)

PIXEL = "pixel"
"""Source of an answer about a pixel."""
OTHERS = 8
"""Most other objects that an answer names."""
SMALL = DepthSettings(radius_px=1, quantile=0.25, least_surface=0.3)
"""Depth settings for detected objects, which may be three pixels wide and in front of something else."""


@dataclass(frozen=True)
class CameraView:
    """The images of one camera at one instant."""

    camera: str
    """Name of the camera."""
    stamp_s: float
    """[s] of the images, on the node's clock."""
    age_s: float
    """[s] since they were taken."""
    image: Image
    """(H, W, 3) uint8 RGB"""
    depth: NDArray[np.float32]
    """(H, W) [m] along the optical axis, of the same instant."""
    model: PinholeCamera
    """Its intrinsics, and its pose at that instant."""


@dataclass(frozen=True)
class Answer:
    """The position of an object, or of the surface at a pixel."""

    source: str
    """`pixel`, or the detector's name."""
    point: LocatedPoint
    """Its position in the world."""
    confidence: float
    """0 to 1: product of the detector's score and fit and the depth's confidence; for a pixel that of the depth."""
    u: float
    """[px] from the left edge of the image."""
    v: float
    """[px] from the upper edge of the image."""
    remark: str = ""
    """The detector's label of the object; empty for a pixel."""
    others: tuple[str, ...] = ()
    """Labels of other objects in the image, at most `OTHERS`."""
    took_s: float = 0.0
    """[s] of wall time that the detector took, by which the view is older than it was."""


class Locator:
    """Locates objects and pixels in views."""

    def __init__(
        self,
        detector: ObjectDetector | None,
        settings: DepthSettings = TRUSTED,
        stale_after_s: float = 2.0,
    ) -> None:
        """Keep the arguments.

        Args:
            detector: finds objects by words; None: only pixels can be located.
            settings: which depth is used; for detected objects `SMALL` with its range and the camera's uncertainties.
            stale_after_s: [s] age from which on a view is refused.
        """
        self._detector, self._settings, self._stale_after_s = detector, settings, stale_after_s
        self._small = replace(
            SMALL,
            near_m=settings.near_m,
            far_m=settings.far_m,
            position_sigma_m=settings.position_sigma_m,
            rotation_sigma_rad=settings.rotation_sigma_rad,
        )

    def by_pixel(self, view: CameraView, u: float, v: float) -> Answer:
        """Return the point of the surface at a pixel.

        Raises:
            NotLocatedError: the view is too old or dark, or the pixel shows no surface.
        """
        self._check(view)
        point = locate_pixel(view.model, view.depth, u, v, self._settings)
        return Answer(PIXEL, point, point.confidence, u, v)

    def by_words(self, view: CameraView, words: str) -> Answer:
        """Return the point of the object that fits the words best and has depth.

        Raises:
            NotLocatedError: the view is too old or dark, no object in it fits, none that does has depth, or there is no
                detector.
            OpenralError: the detector did not answer.
        """
        self._check(view)
        if self._detector is None:
            raise NotLocatedError(
                "no detector is deployed, so words cannot be located; name detector_skill in the scene, or ask by pixel"
            )
        began_s = time.monotonic()
        try:
            seen = self._detector.find(view.image, words)
        except ContractError as error:
            raise NotLocatedError(str(error)) from error
        fitting = [one for one in seen if one.fit >= FITS]
        if not fitting:
            raise NotLocatedError(f"'{words}' is not seen by camera {view.camera}{_seen_instead(seen)}")
        best, answer = self._first_with_depth(view, fitting)
        others = tuple(dict.fromkeys(one.label for one in seen if one is not best))[:OTHERS]
        return replace(answer, others=others, took_s=time.monotonic() - began_s)

    def _first_with_depth(self, view: CameraView, fitting: Sequence[Detection]) -> tuple[Detection, Answer]:
        fault: NotLocatedError | None = None
        for one in fitting:
            try:
                point = locate_pixel(
                    view.model,
                    view.depth,
                    one.u,
                    one.v,
                    self._small,
                    pixel_sigma=one.pixel_sigma,
                    inward_m=one.inward_m,
                )
            except NotLocatedError as error:
                fault = fault or NotLocatedError(f"{one.label} is seen, but {error}")
                continue
            assert self._detector is not None
            confidence = one.score * one.fit * min(1.0, point.confidence / self._small.least_valid)
            return one, Answer(self._detector.name, point, confidence, one.u, one.v, one.label)
        assert fault is not None
        raise fault

    def _check(self, view: CameraView) -> None:
        if view.age_s > self._stale_after_s:
            raise NotLocatedError(
                f"the newest picture of camera {view.camera} is {view.age_s:.1f} s old, more than "
                f"{self._stale_after_s:g} s; see whether its bridge runs"
            )
        if is_dark(view.image):
            raise NotLocatedError(f"the picture of camera {view.camera} is too dark; turn on the light")


def _seen_instead(seen: Sequence[Detection]) -> str:
    names = list(dict.fromkeys(one.label for one in seen))[:OTHERS]
    return f"; it sees {', '.join(names)}" if names else ", nor is anything else that the detector knows"
