"""Reaction to the completion of an action."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..events import ExecutionComplete
from .on_action_event_base import OnActionEventBase, OnEvent

if TYPE_CHECKING:
    from ..action import Action


class OnExecutionComplete(OnActionEventBase):
    """Visits entities after the completion of an action.

    Args:
        target_action: the action, a predicate of actions, or None for every one.
        on_completion: entities to visit, or a callable `(event, context)` that returns them.
    """

    def __init__(
        self,
        *,
        target_action: Callable[[Any], bool] | Action | None = None,
        on_completion: OnEvent,
        handle_once: bool = False,
    ) -> None:
        from ..action import Action

        super().__init__(
            action_matcher=target_action,
            on_event=on_completion,
            target_event_cls=ExecutionComplete,
            target_action_cls=Action,
            handle_once=handle_once,
        )
