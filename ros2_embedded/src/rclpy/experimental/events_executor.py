"""An executor that is driven by events instead of by polling."""

from __future__ import annotations

from typing import Any

from rclpy.executor_errors import ConditionReachedException, ShutdownException, TimeoutException
from rclpy.executors import SingleThreadedExecutor
from rclpy.task import Future

_MOST_AFTER_THE_END = 100
"""Callbacks that may run after a timeout, so that callbacks which are always ready do not prolong it."""


class EventsExecutor(SingleThreadedExecutor):
    """As `SingleThreadedExecutor`, which sleeps until an event wakes it, too.

    `spin_until_future_complete` does what is ready when its timeout ends, even with a timeout of zero.
    """

    def spin_until_future_complete(self, future: Future[Any], timeout_sec: float | None = None) -> None:
        """Work until a future is done, for at most `timeout_sec` [s] (None or negative: no limit)."""
        super().spin_until_future_complete(future, timeout_sec)
        for _ in range(_MOST_AFTER_THE_END):
            try:
                work = self._next_work(0.0, lambda: not future._pending())
            except (TimeoutException, ShutdownException, ConditionReachedException):
                return
            work()
            if self._failures:
                raise self._failures.popleft()
