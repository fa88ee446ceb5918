"""The joint position check: joints keep a margin from the ends of their ranges."""

from __future__ import annotations

import numpy as np

from openral_control.safety.joint_limits import ArmLimits, Vector


class PositionCheck:
    """Keeps each joint within its range less a margin; a joint that is outside may be led back.

    "Range" below means the range less the margin.
    """

    name = "joint position"

    def __init__(self, limits: ArmLimits, margin: float | Vector) -> None:
        """Take the arm's limits and the margin [rad], one or (n,)."""
        self._low, self._high = limits.low + margin, limits.high - margin

    def allows(self, start: Vector, end: Vector) -> bool:
        """Return whether each joint at `end` is within its range, or no further outside than at `start` (n,) [rad]."""
        if ((end >= self._low) & (end <= self._high)).all():
            return True
        below, above = self._outside(start)
        below_then, above_then = self._outside(end)
        return bool(((below_then <= below + 1e-9) & (above_then <= above + 1e-9)).all())

    def room(self, joints: Vector) -> float:
        """Return the distance [rad] of the joint that is nearest to an end of its range; negative: outside."""
        return float(np.minimum(joints - self._low, self._high - joints).min())

    def slope(self, joints: Vector) -> Vector:
        """Return the gradient (n,) of `room`: 1 or -1 for the joint nearest to an end of its range, else 0."""
        ends = np.array([joints - self._low, self._high - joints])
        side, joint = np.unravel_index(int(ends.argmin()), ends.shape)
        slope = np.zeros(len(joints))
        slope[joint] = -1.0 if side else 1.0
        return slope

    def _outside(self, joints: Vector) -> tuple[Vector, Vector]:
        """Return how far (n,) [rad] each joint is below and above its range; 0: it is not."""
        return np.maximum(self._low - joints, 0.0), np.maximum(joints - self._high, 0.0)
