"""Reaction to changed states."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from launch import Event, EventHandler, SomeEntitiesType

from ..events.lifecycle.state_transition import StateTransition

if TYPE_CHECKING:
    from ..actions.lifecycle_node import LifecycleNode


class OnStateTransition(EventHandler):
    """Visits entities when a lifecycle node changes its state.

    Args:
        entities: the entities.
        target_lifecycle_node: the node, None for every one.
        transition: label of the transition, None for every one.
        start_state: label of the state before, None for every one.
        goal_state: label of the state after, None for every one.
        matcher: a predicate of events, in place of all these.
        handle_once: whether the handler unregisters after the first event.
    """

    def __init__(
        self,
        *,
        entities: SomeEntitiesType,
        target_lifecycle_node: LifecycleNode | None = None,
        transition: str | None = None,
        start_state: str | None = None,
        goal_state: str | None = None,
        matcher: Callable[[Event], bool] | None = None,
        handle_once: bool = False,
    ) -> None:
        wanted = {"transition": transition, "start_state": start_state, "goal_state": goal_state}
        if matcher is not None and (target_lifecycle_node is not None or any(wanted.values())):
            raise ValueError("OnStateTransition takes a matcher or a description of the transition, not both")

        def matches(event: Event) -> bool:
            if not isinstance(event, StateTransition):
                return False
            if target_lifecycle_node is not None and event.action is not target_lifecycle_node:
                return False
            return all(label is None or getattr(event, name) == label for name, label in wanted.items())

        super().__init__(matcher=matcher or matches, entities=entities, handle_once=handle_once)
