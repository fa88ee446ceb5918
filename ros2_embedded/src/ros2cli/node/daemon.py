"""The daemon of ROS 2, which is not needed here: the graph arrives within milliseconds."""

from __future__ import annotations

from typing import Any


def is_daemon_running(args: Any = None) -> bool:
    """Return False: there is no daemon."""
    return False


def spawn_daemon(args: Any = None, timeout: float | None = None, debug: bool = False) -> bool:
    """Return True: what a daemon is for works already."""
    return True


def shutdown_daemon(args: Any = None, timeout: float | None = None) -> bool:
    """Return True: nothing runs."""
    return True


def add_arguments(parser: Any) -> None:
    """Add nothing."""
