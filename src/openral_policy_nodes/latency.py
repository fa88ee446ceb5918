"""Statistics of the inference latency over the most recent calls."""

from __future__ import annotations

from collections import deque

import numpy as np


class LatencyStatistics:
    """The last `capacity` latencies. Not thread-safe."""

    def __init__(self, capacity: int = 1024) -> None:
        self._values: deque[float] = deque(maxlen=capacity)

    def add(self, seconds: float) -> None:
        """Add one latency [s]."""
        self._values.append(seconds)

    @property
    def last(self) -> float:
        """[s] newest latency; 0: there is none."""
        return self._values[-1] if self._values else 0.0

    def percentile(self, percent: float) -> float:
        """Return a percentile (0..100) of the latencies [s] by linear interpolation; 0 where there are none."""
        return float(np.percentile(self._values, percent)) if self._values else 0.0
