"""The joint velocity check: joints keep to the arm's limits, and can brake before the ends of their ranges."""

from __future__ import annotations

import numpy as np

from openral_control.safety.joint_limits import ArmLimits, Vector
from openral_control.safety.joint_step import JointStep

LEAST_RAD_S = 0.05
"""[rad/s] speed that the margin always leaves where the arm's limit is at least as large; a smaller limit is kept."""


class VelocityCheck:
    """Slows all joints so that speeds are within the limits, less a margin, at the start and the end of each step."""

    name = "joint velocity"
    yields = False

    def __init__(
        self, limits: ArmLimits, margin_rad_s: float, position_margin: float | Vector, braking: Vector
    ) -> None:
        """Take the arm's limits, margins of speed [rad/s] and position [rad], and its deceleration (n,) [rad/s²].

        The margin of the position is one or (n,).
        """
        self._limits, self._margin, self._braking = limits, margin_rad_s, braking
        self._low, self._high = limits.low + position_margin, limits.high - position_margin

    def share(self, step: JointStep) -> float:
        """Return the allowed share of the velocities, the same for all joints so that the hand keeps its direction."""
        speeds = np.abs(step.velocities)
        allowed = np.minimum(*self.allowed(np.array([step.start, step.end]), step.velocities))
        shares = np.divide(allowed, speeds, out=np.ones(len(speeds)), where=speeds > 1e-9)
        return min(max(float(shares.min()), 0.0), 1.0)

    def allowed(self, positions: Vector, direction: Vector) -> Vector:
        """Return the allowed speeds [rad/s] of joints at `positions`, (n,) or (k, n) [rad], in the `direction` (n,).

        Of `direction` only the signs count.
        """
        ways = np.where(direction > 0.0, 1.0, -1.0)
        bound = self._limits.speeds_towards(ways, positions)
        room = ways * (np.where(direction > 0.0, self._high, self._low) - positions)
        stopping = np.sqrt(2.0 * self._braking * np.maximum(room, 0.0))
        return np.minimum(stopping, np.maximum(bound - self._margin, np.minimum(bound, LEAST_RAD_S)))
