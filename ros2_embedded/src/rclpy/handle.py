"""What `.handle` of nodes, entities, clocks and contexts gives."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

from rclpy.exceptions import InvalidHandle

__all__ = ["Handle", "InvalidHandle"]


class Handle:
    """Stands for what is below an object; in a `with` statement it checks that the object is still there."""

    def __init__(self, is_alive: Callable[[], bool], owner: Any = None) -> None:
        """Hold the question whether the owner was destroyed, and the owner."""
        self._is_alive, self._owner = is_alive, owner
        self._users, self._lock = 0, Lock()

    def __enter__(self) -> None:
        """Check.

        Raises:
            InvalidHandle: the owner was destroyed, and no `with` statement of this handle is under way.
        """
        with self._lock:
            if not self._users and not self._is_alive():
                raise InvalidHandle("cannot use Destroyable because destruction was requested")
            self._users += 1

    def __exit__(self, *_: object) -> None:
        """One user less."""
        with self._lock:
            self._users -= 1

    @property
    def pointer(self) -> int:
        """A number that tells this handle from others, such as `WaitSet.get_ready_entities` gives."""
        return id(self._owner)

    def destroy_when_not_in_use(self) -> None:
        """Destroy the owner."""
        if hasattr(self._owner, "destroy"):
            self._owner.destroy()
