"""Joints stay away from the ends of their ranges."""

from __future__ import annotations

import numpy as np

from openral_control.safety.arm_limits import ArmLimits
from openral_control.safety.step import Step


class PositionCheck:
    """No joint is led nearer than a margin to the end of its range; one that is nearer may be led back."""

    name = "joint position"

    def __init__(self, limits: ArmLimits, margin_rad: float) -> None:
        """Take the arm's limits and the margin [rad]."""
        self._low, self._high = limits.low + margin_rad, limits.high - margin_rad

    def share(self, step: Step) -> float:
        """Return the share of the way that ends where the first joint reaches its margin."""
        way = step.wanted - step.start
        room = np.where(way > 0, self._high - step.start, step.start - self._low)
        moving = np.abs(way) > 1e-12
        shares = np.maximum(room[moving], 0.0) / np.abs(way[moving])
        return float(np.clip(shares.min(initial=1.0), 0.0, 1.0))
