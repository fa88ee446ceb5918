"""Process-wide functions: the default context and its state."""

from __future__ import annotations

import sys
import threading

from rclpy.context import Context
from rclpy.passed_on import pass_on

_default_context: Context | None = None
_lock = threading.RLock()  # a signal may interrupt who holds it


def get_default_context(*, shutting_down: bool = False) -> Context:
    """The context used where none is given; made at the first call.

    Args:
        shutting_down: the next call makes another, since a context that was shut down cannot be used again.
    """
    global _default_context
    with _lock:
        context = _default_context or Context()
        _default_context = None if shutting_down else context
        return context


def renew_default_context() -> Context:
    """The default context, a new one when the present one was shut down."""
    global _default_context
    with _lock:
        if _default_context is None or _default_context.is_spent:
            _default_context = Context()
        return _default_context


def remove_ros_args(args: list[str] | None = None) -> list[str]:
    """The command line without its ROS arguments; None takes `sys.argv`."""
    from rclpy.arguments import parse_arguments

    words = sys.argv if args is None else list(args)
    if not words:
        return []
    return parse_arguments(words).remaining


def ok(*, context: Context | None = None) -> bool:
    """True while a context is valid."""
    return (context or get_default_context()).ok()


def shutdown(*, context: Context | None = None) -> None:
    """Shut a context down.

    Raises:
        RCLError: not initialised, or shut down before.
    """
    (context or get_default_context(shutting_down=True)).shutdown()


def try_shutdown(*, context: Context | None = None) -> None:
    """Shut a context down if it is not already."""
    (context or get_default_context(shutting_down=True)).try_shutdown()


def get_rmw_implementation_identifier() -> str:
    """The name of the middleware whose wire this speaks."""
    return "rmw_zenoh_cpp"


def get_available_rmw_implementations() -> set[str]:
    """The names of all middlewares there are: one."""
    return {get_rmw_implementation_identifier()}


def timeout_sec_to_nsec(timeout_sec: float | None) -> int:
    """Nanoseconds of a timeout; None and negative values wait for ever (-1)."""
    return -1 if timeout_sec is None or timeout_sec < 0 else int(timeout_sec * 1e9)


pass_on(__name__)
