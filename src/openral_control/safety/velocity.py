"""Joints go no faster than the arm allows them where they are."""

from __future__ import annotations

import numpy as np

from openral_control.safety.arm_limits import ArmLimits, Vector
from openral_control.safety.step import Step

LEAST_RAD_S = 0.05
"""[rad/s] that the margin leaves of every speed that the arm allows at all."""


class VelocityCheck:
    """The speed of each step stays below the limits at its start and at its end, by a margin."""

    name = "joint velocity"

    def __init__(self, limits: ArmLimits, margin_rad_s: float) -> None:
        """Take the arm's limits and the margin [rad/s]."""
        self._limits, self._margin = limits, margin_rad_s

    def share(self, step: Step) -> float:
        """Return the share by which all joints are slowed alike, so that the hand keeps its direction."""
        speed = (step.wanted - step.start) / step.dt
        allowed = np.minimum(self.allowed(step.start, speed), self.allowed(step.wanted, speed))
        moving = np.abs(speed) > 1e-12
        return float(np.clip((allowed[moving] / np.abs(speed[moving])).min(initial=1.0), 0.0, 1.0))

    def allowed(self, positions: Vector, direction: Vector) -> Vector:
        """Return the greatest speeds (n,) [rad/s] of joints at `positions` in the sense of `direction` (n,)."""
        least, greatest = self._limits.speeds_at(positions)
        bound = np.where(direction > 0, greatest, -least)
        return np.maximum(bound - self._margin, np.minimum(bound, LEAST_RAD_S))
