"""The bandwidth of topics, for programs that show it."""

from __future__ import annotations

import sys
from collections import deque
from typing import Any, NamedTuple

DEFAULT_WINDOW_SIZE = 100


class Bandwidth(NamedTuple):
    """Bytes a second, how many messages were looked at, and the mean, least and greatest size in bytes."""

    bytes_per_s: float
    window: int
    mean: float
    min_size: int
    max_size: int


class ROSTopicBandwidth:
    """Measures how many bytes come; give `callback` to a subscription of serialised messages (`raw=True`).

    Args:
        node: its clock counts.
        window_size: how many messages to look at.
    """

    def __init__(self, node: Any, window_size: int) -> None:
        """Start with nothing seen."""
        self.window_size = window_size
        self._clock = node.get_clock()
        self._arrivals: deque[tuple[int, int]] = deque(maxlen=window_size)

    def callback(self, data: bytes) -> None:
        """A serialised message came."""
        self._arrivals.append((self._clock.now().nanoseconds, len(data)))

    def get_bw(self) -> Bandwidth | None:
        """Return the bandwidth since the oldest message that is remembered, None before there are two."""
        known = list(self._arrivals)
        if len(known) < 2:
            return None
        span = (self._clock.now().nanoseconds - known[0][0]) / 1e9
        sizes = [size for _, size in known]
        rate = sum(sizes) / span if span > 0.0 else 0.0
        return Bandwidth(rate, len(sizes), sum(sizes) / len(sizes), min(sizes), max(sizes))

    def print_bw(self) -> None:
        """Print the bandwidth."""
        found = self.get_bw()
        if found is not None:
            sys.stdout.write(
                f"{found.bytes_per_s:.0f} B/s from {found.window} messages\n"
                f"\tMessage size mean: {found.mean:.0f} B min: {found.min_size} B max: {found.max_size} B\n"
            )
