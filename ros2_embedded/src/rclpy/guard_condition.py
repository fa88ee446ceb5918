"""Guard conditions: callbacks that are triggered by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rclpy.callback_groups import CallbackGroup
from rclpy.entity import Entity
from rclpy.impl.handles import GuardConditionHandle
from rclpy.passed_on import pass_on

if TYPE_CHECKING:
    from rclpy.context import Context


class GuardCondition(Entity):
    """Runs its callback in the executor after `trigger`, which any thread may call."""

    _handle_type = GuardConditionHandle
    _turn = 2

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


class SignalHandlerGuardCondition(GuardCondition):
    """A guard condition that the end of a context triggers; executors are woken without it."""

    def __init__(self, context: Context | None = None) -> None:
        """Make it without a callback; it is triggered when the context (None: the default one) ends."""
        from rclpy.utilities import get_default_context

        super().__init__(None, None)
        (context or get_default_context()).on_shutdown(self.trigger)


pass_on(__name__)
