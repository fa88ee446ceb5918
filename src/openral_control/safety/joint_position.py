"""Joints stay away from the ends of their ranges."""

from __future__ import annotations

import numpy as np

from openral_control.safety.joint_limits import ArmLimits, Vector


class PositionCheck:
    """No joint is led nearer than a margin to the end of its range; one that is nearer may be led back."""

    name = "joint position"

    def __init__(self, limits: ArmLimits, margin_rad: float) -> None:
        """Take the arm's limits and the margin [rad]."""
        self._low, self._high = limits.low + margin_rad, limits.high - margin_rad

    def allows(self, start: Vector, end: Vector) -> bool:
        """Tell whether each joint ends within its range, or not further out than it is."""
        if ((end >= self._low) & (end <= self._high)).all():
            return True
        below, above = self._outside(start)
        below_then, above_then = self._outside(end)
        return bool(((below_then <= below + 1e-9) & (above_then <= above + 1e-9)).all())

    def room(self, joints: Vector) -> float:
        """Return how far [rad] the joint that is nearest to the end of its range is from there."""
        return float(np.minimum(joints - self._low, self._high - joints).min())

    def slope(self, joints: Vector) -> Vector:
        """Return (n,): 1 or -1 for the joint that is nearest to an end of its range, 0 for the others."""
        ends = np.array([joints - self._low, self._high - joints])
        side, joint = np.unravel_index(int(ends.argmin()), ends.shape)
        slope = np.zeros(len(joints))
        slope[joint] = -1.0 if side else 1.0
        return slope

    def _outside(self, joints: Vector) -> tuple[Vector, Vector]:
        """Return how far [rad] each joint is below and above its range."""
        return np.maximum(self._low - joints, 0.0), np.maximum(joints - self._high, 0.0)
