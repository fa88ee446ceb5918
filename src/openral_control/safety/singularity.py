"""The singularity check: the arm stays away from postures in which its hand cannot move in all directions."""

from __future__ import annotations

import math

from openral_control.safety.distance import LEAST_SHARE
from openral_control.safety.joint_limits import Vector
from openral_control.safety.joint_step import ArmGeometry, JointStep

LEAVING = 2.0
"""Factor on the thresholds for slowing while the arm leaves a singularity, as in MoveIt Servo."""
MOST = 1e6
"""Largest condition number that is distinguished; larger ones count as this one."""


class SingularityCheck:
    """Slows the arm above one condition number and stops it at another; leaving a singularity is always allowed."""

    name = "singularity"
    yields = False

    def __init__(self, geometry: ArmGeometry, slow: float, stop: float) -> None:
        """Take the arm's geometry and the condition numbers above which it is slowed and stopped."""
        self._geometry, self._slow, self._stop = geometry, slow, stop

    def share(self, step: JointStep) -> float:
        """Return the allowed share of the velocities."""
        after = self._geometry.condition(step.end)
        if after <= self._slow:
            return 1.0
        times = LEAVING if after < self._geometry.condition(step.start) else 1.0
        slow, stop = times * self._slow, times * self._stop
        return 1.0 if after <= slow else max(LEAST_SHARE, (stop - after) / (stop - slow))

    def allows(self, start: Vector, end: Vector) -> bool:
        """Return whether the condition number at `end` is small enough, or smaller than at `start` (n,) [rad]."""
        condition = self._geometry.condition(end)
        return condition < self._stop or condition < self._geometry.condition(start)

    def room(self, joints: Vector) -> float:
        """Return by how much the natural logarithm of the condition number may still increase."""
        return math.log(self._stop / min(self._geometry.condition(joints), MOST))

    def slope(self, joints: Vector) -> Vector:
        """Return the gradient (n,) [1/rad] of `room`."""
        return -self._geometry.condition_slope(joints)
