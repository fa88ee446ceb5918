"""The arm stays away from postures in which its hand cannot be moved every way."""

from __future__ import annotations

import math

from openral_control.safety.distance import LEAST_SHARE
from openral_control.safety.joint_limits import Vector
from openral_control.safety.joint_step import ArmGeometry, JointStep

LEAVING = 2.0
"""Times the slowing threshold on a way that leads out of a singularity, as in MoveIt Servo."""
MOST = 1e6
"""Condition number of postures that are singular."""


class SingularityCheck:
    """Slower from one condition number on, no further from another; out of a singularity the arm may go."""

    name = "singularity"
    yields = False

    def __init__(self, geometry: ArmGeometry, slow: float, stop: float) -> None:
        """Take the condition numbers."""
        self._geometry, self._slow, self._stop = geometry, slow, stop

    def share(self, step: JointStep) -> float:
        """Return the share by which the arm is slowed."""
        after = self._geometry.condition(step.end)
        if after <= self._slow:
            return 1.0
        times = LEAVING if after < self._geometry.condition(step.start) else 1.0
        slow, stop = times * self._slow, times * self._stop
        return 1.0 if after <= slow else max(LEAST_SHARE, (stop - after) / (stop - slow))

    def allows(self, start: Vector, end: Vector) -> bool:
        """Tell whether the arm ends far enough from a singularity, or no nearer to it than it is."""
        condition = self._geometry.condition(end)
        return condition < self._stop or condition < self._geometry.condition(start)

    def room(self, joints: Vector) -> float:
        """Return by how much the logarithm of the condition number may grow."""
        return math.log(self._stop / min(self._geometry.condition(joints), MOST))

    def slope(self, joints: Vector) -> Vector:
        """Return (n,) [1/rad] by how much that logarithm shrinks with each joint."""
        return -self._geometry.condition_slope(joints)
