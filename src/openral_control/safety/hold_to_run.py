"""The hold-to-run check: the arm moves only while an operator sends signs of life."""

from __future__ import annotations

import math

from openral_control.safety.joint_step import JointStep


class HoldToRun:
    """Stops the arm without a recent sign of life of the operator. `beat` may be called from any thread."""

    name = "hold to run"
    yields = False

    def __init__(self, lasts_s: float) -> None:
        """Take the time [s] for which a sign of life is valid."""
        self._lasts = lasts_s
        self._heard = -math.inf

    def beat(self, now_s: float) -> None:
        """Record a sign of life of the operator at a monotonic time [s]."""
        self._heard = now_s

    def is_held(self, now_s: float) -> bool:
        """Return whether the last sign of life is valid at a monotonic time [s].

        It may have come since that time, at which a control step began, but not from further ahead.
        """
        return abs(now_s - self._heard) <= self._lasts

    def share(self, step: JointStep) -> float:
        """Return 1 while the last sign of life is valid, else 0."""
        return 1.0 if self.is_held(step.now_s) else 0.0
