"""The arm keeps its distance to itself and to what stands around it."""

from __future__ import annotations

from openral_control.safety.joint_limits import Vector
from openral_control.safety.joint_step import ArmGeometry, JointStep

LEAST_SHARE = 0.25
"""Share of its speed that an arm keeps that is nearly as near to things as it may come."""
RESERVE_M = 0.005
"""[m] more than what is allowed that the ends of control steps keep: between two of them joints do not go straight, and
after steps that come early they cut a corner."""


class DistanceCheck:
    """Slower below one distance, no further below another; away from things it may always go."""

    name = "distance"
    yields = False

    def __init__(self, geometry: ArmGeometry, slow_m: float, stop_m: float) -> None:
        """Take the distances [m]."""
        self._geometry, self._slow, self._stop = geometry, slow_m + RESERVE_M, stop_m + RESERVE_M

    def share(self, step: JointStep) -> float:
        """Return the share by which the arm is slowed on its way to where it is nearer to things."""
        after = self._geometry.distance(step.end, self._slow)
        if after >= self._slow or after >= self._geometry.distance(step.start, self._slow):
            return 1.0
        return max(LEAST_SHARE, (after - self._stop) / (self._slow - self._stop))

    def allows(self, start: Vector, end: Vector) -> bool:
        """Tell whether the arm ends far enough away, or no nearer than it is."""
        distance = self._geometry.distance(end, self._slow)
        return distance > self._stop or distance >= self._geometry.distance(start, self._slow)

    def room(self, joints: Vector) -> float:
        """Return how much nearer [m] to things the arm may come."""
        return self._geometry.distance(joints, self._slow) - self._stop

    def slope(self, joints: Vector) -> Vector:
        """Return (n,) [m/rad] by how much the distance grows with each joint."""
        return self._geometry.distance_slope(joints, self._slow)
