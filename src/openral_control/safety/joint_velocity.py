"""Joints go no faster than the arm allows them where they are, and than they can brake before their margin."""

from __future__ import annotations

import numpy as np

from openral_control.safety.joint_limits import ArmLimits, Vector
from openral_control.safety.joint_step import JointStep

LEAST_RAD_S = 0.05
"""[rad/s] that the margin leaves of every speed that the arm allows at all."""


class VelocityCheck:
    """Speeds stay below the limits at the start and at the end of each step, by a margin."""

    name = "joint velocity"
    yields = False

    def __init__(
        self, limits: ArmLimits, margin_rad_s: float, position_margin_rad: float, braking: Vector
    ) -> None:
        """Take the arm's limits, the margins of speed [rad/s] and position [rad], and how (n,) [rad/s²] it brakes."""
        self._limits, self._margin, self._braking = limits, margin_rad_s, braking
        self._low, self._high = limits.low + position_margin_rad, limits.high - position_margin_rad

    def share(self, step: JointStep) -> float:
        """Return the share by which all joints are slowed alike, so that the hand keeps its direction."""
        velocities = step.velocities
        allowed = self.allowed(np.array([step.start, step.end]), velocities).min(axis=0)
        moving = np.abs(velocities) > 1e-9
        return float(np.clip((allowed[moving] / np.abs(velocities[moving])).min(initial=1.0), 0.0, 1.0))

    def allowed(self, positions: Vector, direction: Vector) -> Vector:
        """Return the greatest speeds [rad/s] of joints at `positions`, (n,) or (k, n), the way of `direction` (n,)."""
        least, greatest = self._limits.speeds_at(positions)
        bound = np.where(direction > 0, greatest, -least)
        room = np.where(direction > 0, self._high - positions, positions - self._low)
        stopping = np.sqrt(2.0 * self._braking * np.maximum(room, 0.0))
        return np.minimum(stopping, np.maximum(bound - self._margin, np.minimum(bound, LEAST_RAD_S)))
