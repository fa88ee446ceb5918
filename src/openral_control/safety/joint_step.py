"""One control step of an arm, as the checks of the safety filter see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from openral_control.safety.joint_limits import Vector


@dataclass(frozen=True)
class JointStep:
    """What is asked for in one control step. Vectors are (n,)."""

    start: Vector
    """[rad] where the joints are led already."""
    velocities: Vector
    """[rad/s] with which they are to be led on."""
    dt: float
    """[s]"""
    now_s: float
    """[s] monotonic."""
    measured: Vector
    """[rad] where the joints are."""
    external: Vector
    """[Nm] torques from outside."""

    @property
    def end(self) -> Vector:
        """[rad] where the velocities lead to."""
        return self.start + self.dt * self.velocities


class PaceCheck(Protocol):
    """A rule of how fast the arm may go, or of whether it may go at all."""

    name: str
    """How status, diagnostics and the record call it."""

    yields: bool
    """Whether joints that it stops are led back to where they are measured, and not only to rest."""

    def share(self, step: JointStep) -> float:
        """Return the share of the velocities that is allowed: 1 all, 0 the arm comes to rest."""
        ...


class PlaceCheck(Protocol):
    """A rule of where the arm may be."""

    name: str
    """How status, diagnostics and the record call it."""

    def allows(self, start: Vector, end: Vector) -> bool:
        """Tell whether joints at `start` (n,) [rad] may be led to `end`; what is amiss may always be made better."""
        ...

    def room(self, joints: Vector) -> float:
        """Return how far joints (n,) [rad] are from what is not allowed, in the check's own unit; negative: there."""
        ...

    def slope(self, joints: Vector) -> Vector:
        """Return (n,) by how much the room at joints (n,) [rad] grows with each joint, in units of the room a rad."""
        ...


class ArmGeometry(Protocol):
    """What an arm's model says about a posture of its joints (n,) [rad]."""

    def points(self, joints: Vector) -> Vector:
        """Return where hand and elbow are, (2, 3) [m] in the world frame."""
        ...

    def point_slopes(self, joints: Vector) -> Vector:
        """Return (2, 3, n) [m/rad] how hand and elbow move with each joint, in the world frame."""
        ...

    def distance(self, joints: Vector, limit_m: float) -> float:
        """Return the least distance [m] of the arm to itself and to what stands around it; at most `limit_m`."""
        ...

    def distance_slope(self, joints: Vector, limit_m: float) -> Vector:
        """Return (n,) [m/rad] by how much that distance grows with each joint; zeros where it is `limit_m`."""
        ...

    def clear_between(self, postures: Vector, least_m: float) -> bool:
        """Tell whether the arm is known to keep a distance [m] in all postures between three (3, n) [rad]."""
        ...

    def condition(self, joints: Vector) -> float:
        """Return the condition number of the hand's Jacobian; inf where it is singular."""
        ...

    def condition_slope(self, joints: Vector) -> Vector:
        """Return (n,) [1/rad] by how much the logarithm of the condition number grows with each joint."""
        ...

    def jacobian(self, joints: Vector) -> Vector:
        """Return (6, n), to be kept: velocity [m/s] and angular velocity [rad/s] of the hand for joint velocities."""
        ...
