"""Joints stay away from the ends of their ranges."""

from __future__ import annotations

import numpy as np

from openral_control.safety.arm_limits import ArmLimits, Vector


class PositionCheck:
    """No joint is led nearer than a margin to the end of its range; one that is nearer may be led back."""

    name = "joint position"

    def __init__(self, limits: ArmLimits, margin_rad: float) -> None:
        """Take the arm's limits and the margin [rad]."""
        self._low, self._high = limits.low + margin_rad, limits.high - margin_rad

    def allows(self, start: Vector, end: Vector) -> bool:
        """Tell whether each joint ends within its range, or not further out than it is."""
        outside = np.maximum(self._outside(start), 0.0)
        return bool((self._outside(end) <= outside + 1e-9).all())

    def _outside(self, joints: Vector) -> Vector:
        farther: Vector = np.maximum(self._low - joints, joints - self._high)
        return farther
