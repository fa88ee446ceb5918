"""The distance check: the arm keeps its distance to itself and to its surroundings."""

from __future__ import annotations

from openral_control.safety.joint_limits import Vector
from openral_control.safety.joint_step import ArmGeometry, JointStep

LEAST_SHARE = 0.25
"""Least share of its speed to which an arm is slowed by its distance or its condition number."""
RESERVE_M = 0.005
"""[m] distance that the ends of control steps keep in addition to the allowed one.

Between two control steps the joints do not move along a straight line, and after steps that come early they cut a
corner."""


class DistanceCheck:
    """Slows the arm below one distance and stops it at another; motion away from obstacles is always allowed."""

    name = "distance"
    yields = False

    def __init__(self, geometry: ArmGeometry, slow_m: float, stop_m: float) -> None:
        """Take the arm's geometry and the distances [m] below which it is slowed and stopped."""
        self._geometry, self._slow, self._stop = geometry, slow_m + RESERVE_M, stop_m + RESERVE_M

    def share(self, step: JointStep) -> float:
        """Return the allowed share of the velocities; it is below 1 only where the step reduces the distance."""
        after = self._geometry.distance(step.end, self._slow)
        if after >= self._slow or after >= self._geometry.distance(step.start, self._slow):
            return 1.0
        return max(LEAST_SHARE, (after - self._stop) / (self._slow - self._stop))

    def allows(self, start: Vector, end: Vector) -> bool:
        """Return whether the distance at `end` is large enough, or not smaller than at `start` (n,) [rad]."""
        distance = self._geometry.distance(end, self._slow)
        return distance > self._stop or distance >= self._geometry.distance(start, self._slow)

    def room(self, joints: Vector) -> float:
        """Return by how much [m] the distance may still decrease, at most the difference of the two distances."""
        return self._geometry.distance(joints, self._slow) - self._stop

    def slope(self, joints: Vector) -> Vector:
        """Return the gradient (n,) [m/rad] of the distance with respect to the joints."""
        return self._geometry.distance_slope(joints, self._slow)
