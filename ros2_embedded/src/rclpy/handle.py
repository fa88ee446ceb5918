"""What `.handle` of nodes, entities, clocks and contexts gives."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.exceptions import InvalidHandle

__all__ = ["Handle", "InvalidHandle"]


class Handle:
    """Stands for what is below an object; in a `with` statement it checks that the object is still there."""

    def __init__(self, is_alive: Callable[[], bool]) -> None:
        """Hold the question whether the owner was destroyed."""
        self._is_alive = is_alive

    def __enter__(self) -> None:
        """Check.

        Raises:
            InvalidHandle: the owner was destroyed.
        """
        if not self._is_alive():
            raise InvalidHandle("cannot use Destroyable because destruction was requested")

    def __exit__(self, *_: object) -> None:
        """Nothing to release."""
