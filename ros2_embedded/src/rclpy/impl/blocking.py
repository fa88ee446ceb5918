"""Waiting in a thread that another one serves."""

from __future__ import annotations

import contextlib
import queue
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rclpy.task import Future
from ros2_embedded.timeouts import finite

if TYPE_CHECKING:
    from rclpy.context import Context


class Wakeups:
    """Wakes a thread, also from a signal handler that interrupts that thread.

    A `threading.Event` must not be set there: its lock may be held by what the handler interrupts.
    """

    def __init__(self) -> None:
        """Start without any."""
        self._queue: queue.SimpleQueue[None] = queue.SimpleQueue()

    def wake(self) -> None:
        """End the present wait, or the next one."""
        self._queue.put(None)

    def wait(self, timeout_sec: float | None) -> None:
        """Block until there is a wake-up, or a time [s] is over (None: no limit; negative: none)."""
        longest = finite(timeout_sec)
        with contextlib.suppress(queue.Empty):
            self._queue.get(timeout=None if longest is None else max(longest, 0.0))

    @contextlib.contextmanager
    def at_end_of(self, context: Context) -> Iterator[None]:
        """Wake when a context is shut down, as long as the block lasts."""
        wake = lambda: self.wake()  # noqa: E731 - a method would be held weakly
        context.on_shutdown(wake)
        try:
            yield
        finally:
            context._off_shutdown(wake)


def wait_until_done(future: Future[Any], context: Context, timeout_sec: float | None = None) -> bool:
    """Block until a future is done, its context is shut down, or a time [s] is over (None: no limit).

    Returns:
        Whether it is done.
    """
    woken = Wakeups()
    future._add_waker(lambda _: woken.wake())
    with woken.at_end_of(context):
        if context.ok():
            woken.wait(timeout_sec)
    return future.done()
