"""Projection of joint velocities onto the boundaries of checks, so that the arm slides along a boundary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from openral_control.safety.joint_limits import Vector
from openral_control.safety.joint_step import ArmGeometry, PlaceCheck

APPROACH = 0.5
"""Share of the room to a boundary that one control step may use."""
TURN_M = 0.2
"""[m/rad] weight of the hand's rotation relative to its translation, about the length of a hand."""
SMALL = 1e-3
"""Weight of the joints' motion relative to the hand's, which is small because actions command the hand."""


@dataclass(frozen=True)
class Boundary:
    """Linear approximation of a check's boundary in joint space."""

    slope: Vector
    """(n,) gradient of the room, in the check's unit per rad."""
    room: float
    """Room at the present posture, in the check's unit, at least 0."""


def boundary_at(check: PlaceCheck, here: Vector, place: Vector) -> Boundary:
    """Return a check's boundary with the room at `here` (n,) [rad] and the gradient at `place` (n,) [rad]."""
    return Boundary(check.slope(place), max(check.room(here), 0.0))


def cost_of_motion(geometry: ArmGeometry, here: Vector) -> Vector:
    """Return the inverse (n, n) of M = J' J + SMALL * I at `here` (n,) [rad], the metric of joint velocities.

    The rotation rows of the hand's Jacobian J are weighted by `TURN_M`.
    """
    jacobian = geometry.jacobian(here)
    jacobian[3:] *= TURN_M
    cost = jacobian.T @ jacobian + SMALL * np.eye(len(here))
    return np.asarray(np.linalg.inv(cost), dtype=np.float64)


def along(velocities: Vector, boundaries: list[Boundary], inverse: Vector, dt: float) -> Vector:
    """Return velocities w (n,) [rad/s] that use at most a share of the room to each boundary in `dt` [s].

    They are nearest to the given ones, v, in the metric M, whose inverse is `inverse`: min (w - v)' M (w - v) subject
    to slope' w >= -APPROACH * room / dt. This is a velocity damper (Faverjon and Tournassoud 1987, "A local based
    approach for path planning of manipulators with a high number of degrees of freedom").
    """
    slopes = np.array([boundary.slope for boundary in boundaries])
    least = -APPROACH / dt * np.array([boundary.room for boundary in boundaries])
    broken = slopes @ velocities < least
    while broken.any():
        rows = slopes[broken]
        lacking = least[broken] - rows @ velocities
        moved = inverse @ rows.T
        led: Vector = velocities + moved @ _solved(rows @ moved, lacking)
        also = broken | (slopes @ led < least - 1e-9)
        if (also == broken).all():
            return led
        broken = also
    return velocities


def _solved(matrix: Vector, right: Vector) -> Vector:
    """Return the least-squares solution (k,) of least norm of a system (k, k), which may be singular.

    It is singular where two boundaries coincide.
    """
    if len(right) == 1:
        return right / matrix[0] if matrix[0, 0] > 0.0 else np.zeros(1)
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=1e-9)[0], dtype=np.float64)
