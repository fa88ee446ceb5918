"""The rate of topics, for programs that show it."""

from __future__ import annotations

import itertools
import statistics
import sys
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from rclpy.clock import Clock
from rclpy.clock_type import ClockType

DEFAULT_WINDOW_SIZE = 10000


class HzResult(NamedTuple):
    """The rate [Hz], the shortest and the longest gap [s], their standard deviation [s], and their number
    plus 1.
    """

    rate: float
    min_delta: float
    max_delta: float
    std_dev: float
    window: int


class ROSTopicHz:
    """Measures how often messages come; give `callback_hz` to a subscription.

    Args:
        node: its clock counts.
        window_size: how many messages to average over, all for a negative number.
        filter_expr: takes a message and says whether it counts.
        use_wtime: count by the wall clock in place of the node's.
    """

    def __init__(
        self,
        node: Any,
        window_size: int,
        filter_expr: Callable[[Any], bool] | None = None,
        use_wtime: bool = False,
    ) -> None:
        """Start with nothing seen."""
        self.filter_expr, self.use_wtime = filter_expr, use_wtime
        self.window_size = window_size if window_size >= 0 else 50000
        self._clock = Clock(clock_type=ClockType.STEADY_TIME) if use_wtime else node.get_clock()
        self._arrivals: dict[str | None, deque[int]] = {}
        self._printed: dict[str | None, int] = {}

    def callback_hz(self, m: Any, topic: str | None = None) -> None:
        """A message came."""
        if self.filter_expr is not None and not self.filter_expr(m):
            return
        known = self._arrivals.setdefault(topic, deque(maxlen=self.window_size + 1))
        known.append(self._clock.now().nanoseconds)

    def get_hz(self, topic: str | None = None) -> HzResult | None:
        """Return the rate, None before there are two messages and when none came since the last call."""
        known = list(self._arrivals.get(topic, ()))
        if len(known) < 2 or self._printed.get(topic) == known[-1]:
            return None
        self._printed[topic] = known[-1]
        gaps = [(after - before) / 1e9 for before, after in itertools.pairwise(known)]
        mean = statistics.fmean(gaps)
        rate = 1.0 / mean if mean > 0.0 else 0.0
        return HzResult(rate, min(gaps), max(gaps), statistics.pstdev(gaps), len(gaps) + 1)

    def print_hz(self, topic: str | None = None) -> None:
        """Print the rate."""
        found = self.get_hz(topic)
        if found is not None:
            sys.stdout.write(
                f"average rate: {found.rate:.3f}\n\tmin: {found.min_delta:.3f}s max: {found.max_delta:.3f}s "
                f"std dev: {found.std_dev:.5f}s window: {found.window}\n"
            )
