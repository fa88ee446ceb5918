"""The edge between a node's callbacks and its executor: a bug in one callback costs one message, not the process.

`GuardedCallbacks` is a mixin for nodes. It imports no ROS, so that it stands here, beside what every node shares:

    class MonitorNode(GuardedCallbacks, LifecycleNode): ...

What a callback raises is logged with its traceback, once a second at most for each callback. A service is answered:
its response says that it failed, in the fields that the response has for that. What a transition of a lifecycle node
raises is logged as well, and raised again: rclpy takes it for the return value ERROR, and says nothing.
"""

from __future__ import annotations

import functools
import inspect
import time
import traceback
from collections.abc import Callable
from typing import Any

EXIT_UNFIT = 3
"""Exit code of a node's process that cannot run what was asked for, such as a skill that does not fit the scene;
starting it again would not help. A bug, which leaves by an uncaught exception, has Python's 1."""
LOG_PERIOD_S = 1.0
"""[s] between two reports of the same callback's exceptions."""
MAX_REASON, MAX_TRACE = 200, 8000
"""Characters of an exception that are repeated in an answer, and of its traceback in the log."""
TRANSITIONS = ("on_configure", "on_activate", "on_deactivate", "on_cleanup", "on_shutdown", "on_error")
"""Methods of a lifecycle node."""
FAILURE_FLAGS = ("ok", "success", "successful")
"""Boolean fields by which a response says whether the request was served."""
FAILURE_TEXTS = ("message", "reason")
"""Text fields in which it says why not."""


class GuardedCallbacks:
    """Guards the callbacks of a node's subscriptions, services, timers, guard conditions and transitions."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Have the transitions that a node defines report what they raise."""
        super().__init_subclass__(**kwargs)
        for name in TRANSITIONS:
            if name in vars(cls):
                setattr(cls, name, _reporting(vars(cls)[name]))

    def create_subscription(
        self, msg_type: Any, topic: str, callback: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Any:
        """Subscribe with a guarded callback."""
        guarded = self.guard(callback, f"topic {topic}")
        return super().create_subscription(msg_type, topic, guarded, *args, **kwargs)  # type: ignore[misc]

    def create_service(
        self, srv_type: Any, srv_name: str, callback: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Any:
        """Offer a service whose callback always answers."""
        guarded = self.guard(callback, f"service {srv_name}", failed=lambda why: failure(srv_type, why))
        return super().create_service(srv_type, srv_name, guarded, *args, **kwargs)  # type: ignore[misc]

    def create_timer(
        self, timer_period_sec: float, callback: Callable[..., Any] | None, *args: Any, **kwargs: Any
    ) -> Any:
        """Make a timer whose callback is guarded."""
        guarded = None if callback is None else self.guard(callback, "a timer")
        return super().create_timer(timer_period_sec, guarded, *args, **kwargs)  # type: ignore[misc]

    def create_guard_condition(self, callback: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Make a guard condition whose callback is guarded."""
        guarded = self.guard(callback, "a guard condition")
        return super().create_guard_condition(guarded, *args, **kwargs)  # type: ignore[misc]

    def guard(
        self,
        callback: Callable[..., Any],
        where: str,
        failed: Callable[[str], Any] = lambda why: None,
    ) -> Callable[..., Any]:
        """Return a callback that logs what the given one raises.

        Args:
            callback: plain, or a coroutine function.
            where: what it serves, for the log.
            failed: called with the reason, gives the result in place of the one that did not come.
        """

        reported_s = float("-inf")

        def report(error: Exception) -> Any:
            nonlocal reported_s
            if not self.context.ok():  # type: ignore[attr-defined]
                raise error  # the process is being ended, and the exception is how it ends
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
            except Exception as error:  # noqa: BLE001  whatever it raises, the other callbacks must go on
                return report(error)

        @functools.wraps(callback)
        async def guarded_coroutine(*args: Any, **kwargs: Any) -> Any:
            try:
                return await callback(*args, **kwargs)
            except Exception as error:  # noqa: BLE001  as above
                return report(error)

        return guarded_coroutine if inspect.iscoroutinefunction(callback) else guarded


def _reporting(transition: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that logs what the given one raises, and raises it; a transition within another logs alone."""

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
    """Return a response of a service type that says that it failed, and why, as far as it has fields for that."""
    response = srv_type.Response()
    for name in FAILURE_FLAGS:
        if hasattr(response, name):
            setattr(response, name, False)
    for name in FAILURE_TEXTS:
        if hasattr(response, name):
            setattr(response, name, why)
    return response
