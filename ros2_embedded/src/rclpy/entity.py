"""What an executor can wait for: the base of subscriptions, services, clients, timers and guard
conditions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.exceptions import InvalidHandle
from rclpy.impl.handles import EntityHandle, handle_of


class Entity:
    """One source of callbacks. `notify` wakes the executor that spins its node."""

    _handle_type: type[EntityHandle] = EntityHandle
    _turn = 5
    """Where executors look first: timers, subscriptions, guard conditions, clients, services, the rest."""
    _is_always_heard = True
    """Whether `notify` tells of everything that becomes pending, but for what the clock brings."""

    def __init__(self, callback_group: CallbackGroup | None) -> None:
        """Join the callback group."""
        self.callback_group = callback_group
        self.event_handlers: list[Any] = []
        self._own_events: list[Entity] = []
        self._destroyed = False
        self._notify: Callable[[], None] = _nobody
        self._own_handle: EntityHandle | None = None
        self._watchers: tuple[Callable[[], None], ...] = ()
        self._wake_executor: Callable[[], None] = _nobody  # `_notify` as it was before there were watchers
        if callback_group is not None:
            callback_group.add_entity(self)

    def is_pending(self) -> bool:
        """True when `take` would give something to do; cheap, called for each entity after each wake."""
        raise NotImplementedError

    def can_gather(self) -> bool:
        """True when nobody misses anything if what is pending is taken a little later, together with more."""
        return False

    def take(self) -> Callable[[], Any] | None:
        """Remove one piece of work and return the function that does it; None when another thread was
        faster.
        """
        raise NotImplementedError

    def notify(self) -> None:
        """Something became pending."""
        self._notify()

    def _check_alive(self) -> None:
        if self._destroyed:
            raise InvalidHandle(f"cannot use this {type(self).__name__}: it was destroyed")

    def _be_heard_by(self, notify: Callable[[], None]) -> None:
        """Wake somebody, if there is nobody yet."""
        if self._notify == _nobody:
            self._notify = notify
        elif self._watchers and self._wake_executor == _nobody:
            self._wake_executor = notify

    def _watch(self, watcher: Callable[[], None]) -> Callable[[], None]:
        """Call a function at each `notify`, too; returns what ends this."""
        if not self._watchers:
            self._wake_executor, self._notify = self._notify, self._notify_watchers
        self._watchers = (*self._watchers, watcher)
        return lambda: self._unwatch(watcher)

    def _unwatch(self, watcher: Callable[[], None]) -> None:
        self._watchers = tuple(known for known in self._watchers if known is not watcher)
        if not self._watchers:
            self._notify = self._wake_executor

    def _notify_watchers(self) -> None:
        for watcher in self._watchers:
            watcher()
        self._wake_executor()

    @property
    def handle(self) -> Any:
        """What stands for this in functions of `rclpy._rclpy_pybind11`.

        In a `with` statement it fails once this was destroyed.
        """
        if self._own_handle is None:
            self._own_handle = handle_of(self, self._handle_type)
        return self._own_handle

    def destroy(self) -> None:
        """Release what the entity holds; a second call does nothing."""
        self._destroyed = True

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.destroy()


def _nobody() -> None:
    """Nobody waits: the entity belongs to no node yet."""
