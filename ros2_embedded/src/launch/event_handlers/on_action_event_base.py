"""The base of handlers for events that carry an action."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..event import Event
from ..event_handler import BaseEventHandler, as_entity_list
from ..launch_description_entity import LaunchDescriptionEntity
from ..some_entities_type import SomeEntitiesType

if TYPE_CHECKING:
    from ..action import Action
    from ..launch_context import LaunchContext

OnEvent = SomeEntitiesType | Callable[..., Any]
"""Entities, or a callable `(event, context)` that returns entities or None."""


class OnActionEventBase(BaseEventHandler):
    """Reacts to events of one class, for one action or for all that a predicate accepts.

    Args:
        action_matcher: the action, a predicate of actions, or None for every action.
        on_event: entities to visit, or a callable `(event, context)` that returns them.
        target_event_cls: the class of events.
        target_action_cls: the class that a given action must have.
        handle_once: whether the handler unregisters after the first event.
    """

    def __init__(
        self,
        *,
        action_matcher: Callable[[Any], bool] | Action | None,
        on_event: OnEvent,
        target_event_cls: type[Event],
        target_action_cls: type[Action],
        handle_once: bool = False,
    ) -> None:
        if (
            action_matcher is not None
            and not callable(action_matcher)
            and not isinstance(action_matcher, target_action_cls)
        ):
            raise TypeError(
                f"{type(self).__name__} takes a {target_action_cls.__name__}, a predicate or None, "
                f"not {action_matcher!r}"
            )
        self.__action_matcher = action_matcher
        self.__event_class = target_event_cls
        super().__init__(matcher=self._matches, handle_once=handle_once)
        self.__callback: Callable[..., Any] | None = on_event if callable(on_event) else None
        self.__entities = [] if callable(on_event) else as_entity_list(on_event)

    def _matches(self, event: Event) -> bool:
        if not isinstance(event, self.__event_class):
            return False
        matcher = self.__action_matcher
        action = getattr(event, "action", None)
        if matcher is None:
            return True
        return bool(matcher(action)) if callable(matcher) else action is matcher

    @property
    def handler_description(self) -> str:
        """What the handler does, in words."""
        return repr(self.__callback) if self.__callback is not None else "<entities>"

    @property
    def matcher_description(self) -> str:
        """Which events the handler takes, in words."""
        return f"event is {self.__event_class.__name__} and action is {self.__action_matcher!r}"

    def describe(self) -> tuple[str, list[LaunchDescriptionEntity]]:
        """Return a description and the entities, as far as known."""
        return super().describe()[0], list(self.__entities)

    def handle(self, event: Event, context: LaunchContext) -> SomeEntitiesType | None:
        """Return the entities, or what the callable returned."""
        super().handle(event, context)
        if self.__callback is None:
            return self.__entities
        result: SomeEntitiesType | None = self.__callback(event, context)
        return result
