"""Inference latency over a sliding window of calls."""

from __future__ import annotations

from collections import deque

import numpy as np


class LatencyStatistics:
    """Ring of the last `capacity` latencies; not thread-safe, its owner locks."""

    def __init__(self, capacity: int = 1024) -> None:
        self._values: deque[float] = deque(maxlen=capacity)

    def add(self, seconds: float) -> None:
        """Remember one latency [s]."""
        self._values.append(seconds)

    @property
    def last(self) -> float:
        """[s] newest latency, 0 when there is none."""
        return self._values[-1] if self._values else 0.0

    def percentile(self, percent: float) -> float:
        """Return that percentile [s] of the ring (linear interpolation), 0 when it is empty."""
        return float(np.percentile(self._values, percent)) if self._values else 0.0
