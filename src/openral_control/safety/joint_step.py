"""The control step that the checks of the safety filter examine, and their interfaces."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from openral_control.safety.joint_limits import Vector


@dataclass(frozen=True)
class JointStep:
    """The requested motion of one control step. Vectors are (n,)."""

    start: Vector
    """[rad] target of the joints before the step."""
    velocities: Vector
    """[rad/s] requested velocities of the target."""
    dt: float
    """[s] duration of the step."""
    now_s: float
    """[s] monotonic time."""
    measured: Vector
    """[rad] measured positions of the joints."""
    external: Vector
    """[Nm] external torques."""

    @cached_property
    def end(self) -> Vector:
        """[rad] target after the step."""
        return self.start + self.dt * self.velocities


class PaceCheck(Protocol):
    """A check that limits the speed of the arm or stops it."""

    name: str
    """Name of the check in status, diagnostics and recordings."""

    yields: bool
    """Whether joints that it stops are led back to their measured positions, and not only to rest."""

    def share(self, step: JointStep) -> float:
        """Return the allowed share of the velocities, from 1 for all to 0, where the arm comes to rest."""
        ...


class PlaceCheck(Protocol):
    """A check that limits the postures of the arm."""

    name: str
    """Name of the check in status, diagnostics and recordings."""

    def allows(self, start: Vector, end: Vector) -> bool:
        """Return whether joints at `start` (n,) [rad] may be led to `end`.

        From a posture that is not allowed itself, one that is no worse is allowed.
        """
        ...

    def room(self, joints: Vector) -> float:
        """Return the margin of joints (n,) [rad] to the check's boundary, in the check's own unit; negative: beyond."""
        ...

    def slope(self, joints: Vector) -> Vector:
        """Return the gradient (n,) of `room` at joints (n,) [rad], in the check's unit per rad."""
        ...


class ArmGeometry(Protocol):
    """Geometry of an arm in a posture of its joints (n,) [rad]."""

    def points(self, joints: Vector) -> Vector:
        """Return the positions of hand and elbow, (2, 3) [m] in the world frame."""
        ...

    def point_slopes(self, joints: Vector) -> Vector:
        """Return the Jacobians (2, 3, n) [m/rad] of the positions of hand and elbow, in the world frame."""
        ...

    def distance(self, joints: Vector, limit_m: float) -> float:
        """Return the least distance [m] of the arm to itself and to its surroundings; at most `limit_m`."""
        ...

    def distance_slope(self, joints: Vector, limit_m: float) -> Vector:
        """Return the gradient (n,) [m/rad] of that distance; zeros where the distance is `limit_m`."""
        ...

    def clear_between(self, postures: Vector, least_m: float) -> bool:
        """Return whether the arm is known to keep a distance [m] in all postures between three (3, n) [rad]."""
        ...

    def condition(self, joints: Vector) -> float:
        """Return the condition number of the hand's Jacobian; inf where it is singular."""
        ...

    def condition_slope(self, joints: Vector) -> Vector:
        """Return the gradient (n,) [1/rad] of the logarithm of the condition number."""
        ...

    def jacobian(self, joints: Vector) -> Vector:
        """Return the hand's Jacobian (6, n), as an array that the caller may change.

        It maps joint velocities [rad/s] to velocity [m/s] and angular velocity [rad/s].
        """
        ...
