"""Reaction to the start of a process."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..events.process import ProcessStarted
from .on_action_event_base import OnActionEventBase, OnEvent

if TYPE_CHECKING:
    from ..action import Action


class OnProcessStart(OnActionEventBase):
    """Visits entities after the start of a process.

    Args:
        target_action: the action, a predicate of actions, or None for every one.
        on_start: entities to visit, or a callable `(event, context)` that returns them.
    """

    def __init__(
        self,
        *,
        target_action: Callable[[Any], bool] | Action | None = None,
        on_start: OnEvent,
        handle_once: bool = False,
    ) -> None:
        from ..actions.execute_local import ExecuteLocal

        super().__init__(
            action_matcher=target_action,
            on_event=on_start,
            target_event_cls=ProcessStarted,
            target_action_cls=ExecuteLocal,
            handle_once=handle_once,
        )
