"""A mixin for nodes that catches the exceptions of callbacks, so that a bug costs one message and not the process.

It imports no ROS, and stands before the node's class:

    class MonitorNode(GuardedCallbacks, LifecycleNode): ...

An exception of a callback is logged with its traceback, at most once a second for each callback. A service responds
that it failed, in the fields that its response has for this. An exception of a transition of a lifecycle node is logged
and raised again, since rclpy turns it into the return value ERROR without a message.
"""

from __future__ import annotations

import functools
import inspect
import time
import traceback
from collections.abc import Callable
from typing import Any

EXIT_UNFIT = 3
"""Exit code of a node's process that cannot run what was requested, such as a skill that does not fit the scene, so
that a restart would not help. A bug, as an uncaught exception, has Python's exit code 1."""
LOG_PERIOD_S = 1.0
"""[s] least time between two log entries about exceptions of the same callback."""
MAX_REASON, MAX_TRACE = 200, 8000
"""Largest number of characters of an exception in a response, and of its traceback in the log."""
TRANSITIONS = ("on_configure", "on_activate", "on_deactivate", "on_cleanup", "on_shutdown", "on_error")
"""Names of the transition methods of a lifecycle node."""
FAILURE_FLAGS = ("ok", "success", "successful")
"""Boolean fields of a response that tell whether the request succeeded."""
FAILURE_TEXTS = ("message", "reason")
"""Text fields of a response for the reason of a failure."""


class GuardedCallbacks:
    """Guards the callbacks of a node's subscriptions, services, timers, guard conditions and transitions."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Wrap the transitions that a node's class defines, so that their exceptions are logged."""
        super().__init_subclass__(**kwargs)
        for name in TRANSITIONS:
            if name in vars(cls):
                setattr(cls, name, _reporting(vars(cls)[name]))

    def create_subscription(
        self, msg_type: Any, topic: str, callback: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Any:
        """Create a subscription with a guarded callback."""
        guarded = self.guard(callback, f"topic {topic}")
        return super().create_subscription(msg_type, topic, guarded, *args, **kwargs)  # type: ignore[misc]

    def create_service(
        self, srv_type: Any, srv_name: str, callback: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Any:
        """Create a service with a guarded callback, which responds in any case."""
        guarded = self.guard(callback, f"service {srv_name}", failed=lambda why: failure(srv_type, why))
        return super().create_service(srv_type, srv_name, guarded, *args, **kwargs)  # type: ignore[misc]

    def create_timer(
        self, timer_period_sec: float, callback: Callable[..., Any] | None, *args: Any, **kwargs: Any
    ) -> Any:
        """Create a timer with a guarded callback."""
        guarded = None if callback is None else self.guard(callback, "a timer")
        return super().create_timer(timer_period_sec, guarded, *args, **kwargs)  # type: ignore[misc]

    def create_guard_condition(self, callback: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Create a guard condition with a guarded callback."""
        guarded = self.guard(callback, "a guard condition")
        return super().create_guard_condition(guarded, *args, **kwargs)  # type: ignore[misc]

    def guard(
        self,
        callback: Callable[..., Any],
        where: str,
        failed: Callable[[str], Any] = lambda why: None,
    ) -> Callable[..., Any]:
        """Return a callback that logs the exceptions of the given one.

        Args:
            callback: a function or a coroutine function.
            where: what it serves, for the log.
            failed: returns the result after an exception, given the reason.
        """

        reported_s = float("-inf")

        def report(error: Exception) -> Any:
            nonlocal reported_s
            if not self.context.ok():  # type: ignore[attr-defined]
                raise error  # the context is shut down, and the exception ends the process
            why = f"{type(error).__name__}: {error}"[:MAX_REASON]
            if time.monotonic() - reported_s >= LOG_PERIOD_S:
                reported_s = time.monotonic()
                trace = "".join(traceback.format_exception(error))[-MAX_TRACE:]
                self.get_logger().error(f"{where}: {why}\n{trace}")  # type: ignore[attr-defined]
            return failed(f"an internal error; see the log of this node ({why})")

        @functools.wraps(callback)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            try:
                return callback(*args, **kwargs)
            except Exception as error:  # noqa: BLE001  after any exception the other callbacks must continue
                return report(error)

        @functools.wraps(callback)
        async def guarded_coroutine(*args: Any, **kwargs: Any) -> Any:
            try:
                return await callback(*args, **kwargs)
            except Exception as error:  # noqa: BLE001  as above
                return report(error)

        return guarded_coroutine if inspect.iscoroutinefunction(callback) else guarded


def _reporting(transition: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that logs and raises the exceptions of the given one; nested transitions log them once."""

    @functools.wraps(transition)
    def reporting(node: Any, *args: Any) -> Any:
        try:
            return transition(node, *args)
        except Exception as error:
            if not getattr(error, "is_reported", False):
                error.is_reported = True  # type: ignore[attr-defined]
                trace = "".join(traceback.format_exception(error))[-MAX_TRACE:]
                node.get_logger().error(f"{transition.__name__}: {error!r}"[:MAX_REASON] + f"\n{trace}")
            raise

    return reporting


def failure(srv_type: Any, why: str) -> Any:
    """Return a response of a service type with failure and reason, in those of the known fields that it has."""
    response = srv_type.Response()
    for name in FAILURE_FLAGS:
        if hasattr(response, name):
            setattr(response, name, False)
    for name in FAILURE_TEXTS:
        if hasattr(response, name):
            setattr(response, name, why)
    return response
