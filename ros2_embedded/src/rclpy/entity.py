"""What an executor can wait for: the base of subscriptions, services, clients, timers and guard
conditions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.exceptions import InvalidHandle
from rclpy.handle import Handle


class Entity:
    """One source of callbacks. `notify` wakes the executor that spins its node."""

    def __init__(self, callback_group: CallbackGroup | None) -> None:
        """Join the callback group."""
        self.callback_group = callback_group
        self.event_handlers: list[Entity] = []
        self._destroyed = False
        self._notify: Callable[[], None] = _nobody
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

    @property
    def handle(self) -> Handle:
        """Return a handle to use in a `with` statement, which fails once this was destroyed."""
        return Handle(lambda: not self._destroyed)

    def destroy(self) -> None:
        """Release what the entity holds; a second call does nothing."""
        self._destroyed = True

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.destroy()


def _nobody() -> None:
    """Nobody waits: the entity belongs to no node yet."""
