"""Velocities that go along a boundary in place of across it: an arm pressed against one does not stand still."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from openral_control.safety.joint_limits import Vector
from openral_control.safety.joint_step import ArmGeometry, PlaceCheck

APPROACH = 0.5
"""Share of the room to a boundary that a control step may take."""
TURN_M = 0.2
"""[m/rad] what a turn of the hand counts beside its way: about the length of a hand."""
SMALL = 1e-3
"""Weight of the joints' own motion beside the hand's; the hand is what an action leads."""


@dataclass(frozen=True)
class Boundary:
    """A check's boundary near a place, as a plane in the space of the joints."""

    slope: Vector
    """(n,) by how much the room grows with each joint; in units of the room a rad."""
    room: float
    """What is left now, in the check's own unit."""


def boundary_at(check: PlaceCheck, here: Vector, place: Vector) -> Boundary:
    """Return the boundary of a check that joints at `here` (n,) [rad] come to at `place` (n,) [rad]."""
    return Boundary(check.slope(place), max(check.room(here), 0.0))


def cost_of_motion(geometry: ArmGeometry, here: Vector) -> Vector:
    """Return the inverse (n, n) of M = J' J + small at `here` (n,) [rad], by which velocities are compared."""
    jacobian = geometry.jacobian(here)
    jacobian[3:] *= TURN_M
    cost = jacobian.T @ jacobian + SMALL * np.eye(len(here))
    return np.asarray(np.linalg.inv(cost), dtype=np.float64)


def along(velocities: Vector, boundaries: list[Boundary], inverse: Vector, dt: float) -> Vector:
    """Return velocities (n,) [rad/s] that take no more than a share of the room to each boundary in `dt` [s].

    Of those that do not, they are the nearest by the motion of the hand: min (w - v)' M (w - v), `inverse` being
    that of M, subject to slope' w >= - share * room / dt (as a velocity damper, Faverjon and Tournassoud 1987, "A local
    based approach for path planning of manipulators with a high number of degrees of freedom").
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
    """Return the shortest solution (k,) of a system (k, k) that may be singular, as where two boundaries are one."""
    if len(right) == 1:
        return right / matrix[0] if matrix[0, 0] > 0.0 else np.zeros(1)
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=1e-9)[0], dtype=np.float64)
