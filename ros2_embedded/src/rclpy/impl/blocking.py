"""Waiting in a thread that another one serves."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from rclpy.task import Future
from ros2_embedded.timeouts import finite

if TYPE_CHECKING:
    from rclpy.context import Context


def wait_until_done(future: Future[Any], context: Context, timeout_sec: float | None = None) -> bool:
    """Block until a future is done, its context is shut down, or a time [s] is over (None: no limit).

    Returns:
        Whether it is done.
    """
    event = threading.Event()
    future._add_waker(lambda _: event.set())
    wake = lambda: event.set()  # noqa: E731 - a method would be held weakly
    context.on_shutdown(wake)
    try:
        if context.ok():
            event.wait(finite(timeout_sec))
    finally:
        context._off_shutdown(wake)
    return future.done()
