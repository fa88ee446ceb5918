"""Which callbacks may run at the same time."""

from __future__ import annotations

import weakref
from threading import Lock
from typing import Any


class CallbackGroup:
    """Base of the groups; an entity belongs to exactly one."""

    def __init__(self) -> None:
        """Make an empty group."""
        self.entities: weakref.WeakSet[Any] = weakref.WeakSet()

    def add_entity(self, entity: Any) -> None:
        """Add an entity."""
        self.entities.add(entity)

    def has_entity(self, entity: Any) -> bool:
        """True for an entity of this group."""
        return entity in self.entities

    def can_execute(self, entity: Any) -> bool:
        """True when a callback of the entity may start now."""
        raise NotImplementedError

    def beginning_execution(self, entity: Any) -> bool:
        """Take the right to run a callback; False when it cannot be had now."""
        raise NotImplementedError

    def ending_execution(self, entity: Any) -> None:
        """Give the right back."""
        raise NotImplementedError


class ReentrantCallbackGroup(CallbackGroup):
    """Callbacks may run in parallel, also of the same entity."""

    def can_execute(self, entity: Any) -> bool:
        """Always."""
        return True

    def beginning_execution(self, entity: Any) -> bool:
        """Always."""
        return True

    def ending_execution(self, entity: Any) -> None:
        """Nothing to do."""


class MutuallyExclusiveCallbackGroup(CallbackGroup):
    """One callback at a time; a coroutine holds the group until it ends."""

    def __init__(self) -> None:
        """Make a free group."""
        super().__init__()
        self._active: Any = None
        self._lock = Lock()

    def can_execute(self, entity: Any) -> bool:
        """While no callback of the group runs."""
        return self._active is None

    def beginning_execution(self, entity: Any) -> bool:
        """Take the group if it is free."""
        with self._lock:
            if self._active is not None:
                return False
            self._active = entity
            return True

    def ending_execution(self, entity: Any) -> None:
        """Free the group."""
        with self._lock:
            if self._active is entity:
                self._active = None
