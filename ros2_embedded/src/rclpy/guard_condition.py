"""Guard conditions: callbacks that are triggered by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.entity import Entity


class GuardCondition(Entity):
    """Runs its callback in the executor after `trigger`, which any thread may call."""

    def __init__(self, callback: Callable[[], Any] | None, callback_group: CallbackGroup | None) -> None:
        """Make a guard condition; use `Node.create_guard_condition`."""
        super().__init__(callback_group)
        self.callback = callback
        self._triggered = False

    def trigger(self) -> None:
        """Have the callback run; triggers before it runs count once."""
        self._triggered = True
        self.notify()

    def is_pending(self) -> bool:
        """True after a trigger."""
        return self._triggered

    def take(self) -> Callable[[], Any] | None:
        """The callback."""
        if not self._triggered:
            return None
        self._triggered = False
        return self.callback or (lambda: None)
