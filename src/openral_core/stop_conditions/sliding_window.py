"""The values of the last so many seconds."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SLACK_S = 1e-6
"""[s] Stamps are rounded to nanoseconds, and their differences to floats."""


class Window:
    """Holds what it takes to say what held during the last `duration_s`: its values, and the last one before them."""

    def __init__(self, duration_s: float) -> None:
        """Take the length [s] of the window."""
        self._duration_s = duration_s
        self._values: deque[tuple[float, Sequence[float]]] = deque()

    def add(self, stamp_s: float, value: Sequence[float]) -> None:
        """Take a value (K,) of a stamp [s]; an older stamp than the newest begins the window anew."""
        if self._values and stamp_s < self._values[-1][0]:
            self.clear()
        self._values.append((stamp_s, value))
        while len(self._values) > 1 and stamp_s - self._values[1][0] >= self._duration_s - SLACK_S:
            self._values.popleft()

    def clear(self) -> None:
        """Forget all values."""
        self._values.clear()

    @property
    def covered(self) -> bool:
        """Whether the values reach back over the whole duration."""
        return bool(self._values) and self._values[-1][0] - self._values[0][0] >= self._duration_s - SLACK_S

    @property
    def values(self) -> NDArray[np.float64]:
        """(N, K), oldest first."""
        return np.array([value for _, value in self._values], np.float64)
