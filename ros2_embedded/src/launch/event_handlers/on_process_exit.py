"""Reaction to the end of a process."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..events.process import ProcessExited
from .on_action_event_base import OnActionEventBase, OnEvent

if TYPE_CHECKING:
    from ..action import Action


class OnProcessExit(OnActionEventBase):
    """Visits entities after the end of a process.

    Args:
        target_action: the action, a predicate of actions, or None for every one.
        on_exit: entities to visit, or a callable `(event, context)` that returns them.
    """

    def __init__(
        self,
        *,
        target_action: Callable[[Any], bool] | Action | None = None,
        on_exit: OnEvent,
        handle_once: bool = False,
    ) -> None:
        from ..actions.execute_local import ExecuteLocal

        super().__init__(
            action_matcher=target_action,
            on_event=on_exit,
            target_event_cls=ProcessExited,
            target_action_cls=ExecuteLocal,
            handle_once=handle_once,
        )
