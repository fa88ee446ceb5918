"""Pacing of control steps by the wall clock, and measurement of their rate."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

GIVE_UP_S = 0.5
"""[s] lag in wall time beyond which the pacer does not catch up, to avoid long bursts of control steps."""
WINDOW_S = 2.0
"""[s] wall time over which rates are averaged."""


class Pacer:
    """Spaces control steps evenly on a monotonic clock, without drift; it catches up after a slow step."""

    def __init__(
        self,
        period_s: float,
        real_time_factor: float = 1.0,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        """Create a pacer, whose first step is due at once.

        Args:
            period_s: [s] of the arm's time between two control steps.
            real_time_factor: seconds of the arm's time per wall second; 0: as fast as possible.
            clock: returns monotonic time [s].
            sleep: blocks for a number of seconds.
        """
        self._period = period_s / real_time_factor if real_time_factor > 0 else 0.0
        self._clock = clock
        self._sleep = sleep
        self._due: float | None = None
        self.late = 0
        """Number of control steps that began late since the start."""

    def wait(self) -> None:
        """Sleep until the next control step is due."""
        now = self._clock()
        if self._due is None or now - self._due > GIVE_UP_S:
            self._due = now
        self._due += self._period
        if self._due > now:
            self._sleep(self._due - now)
        elif self._period:
            self.late += 1

    def restart(self, ahead_s: float = 0.0) -> None:
        """Begin anew without catching up, as after a reset or a pause.

        Args:
            ahead_s: [s] wall time by which the arm's time is ahead; the next wait is longer by it.
        """
        self._due = self._clock() + ahead_s if self._period and ahead_s > 0.0 else None


class RateMeter:
    """Measures the number of control steps per wall second over a sliding window."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic, window_s: float = WINDOW_S) -> None:
        self._clock = clock
        self._window = window_s
        self._ticks: deque[float] = deque()

    def tick(self) -> float:
        """Record one control step; return its time on the clock [s]."""
        now = self._clock()
        self._ticks.append(now)
        while self._ticks[0] < now - self._window:
            self._ticks.popleft()
        return now

    @property
    def hz(self) -> float:
        """[Hz] mean rate over the window until now; 0 with fewer than two steps in it."""
        if len(self._ticks) < 2:
            return 0.0
        span = max(self._clock(), self._ticks[-1]) - self._ticks[0]
        return (len(self._ticks) - 1) / span if span > 0 else 0.0
