"""The arm moves only while an operator says that they are there."""

from __future__ import annotations

import math

from openral_control.safety.step import Step


class HoldToRun:
    """`beat` may be called from any thread."""

    name = "hold to run"

    def __init__(self, lasts_s: float) -> None:
        """Take for how long [s] a sign of life counts."""
        self._lasts = lasts_s
        self._heard = -math.inf

    def beat(self, now_s: float) -> None:
        """Note a sign of life of the operator at a monotonic time [s]."""
        self._heard = now_s

    def share(self, step: Step) -> float:
        """Return 1 while the last sign of life is fresh, else 0."""
        return 1.0 if 0.0 <= step.now_s - self._heard <= self._lasts else 0.0
