"""The base of event handlers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from .launch_description_entity import LaunchDescriptionEntity

if TYPE_CHECKING:
    from .event import Event
    from .launch_context import LaunchContext
    from .some_entities_type import SomeEntitiesType


def as_entity_list(entities: SomeEntitiesType | None) -> list[LaunchDescriptionEntity]:
    """Return one entity, several, or None as a list; raise TypeError for anything else."""
    if entities is None:
        return []
    if isinstance(entities, LaunchDescriptionEntity):
        return [entities]
    listed = list(entities)
    for entity in listed:
        if not isinstance(entity, LaunchDescriptionEntity):
            raise TypeError(
                f"expected launch description entities, found {entity!r}: return actions, not their results"
            )
    return listed


class BaseEventHandler:
    """Matches events with a predicate; what happens then is up to subclasses."""

    def __init__(self, *, matcher: Callable[[Event], bool], handle_once: bool = False) -> None:
        self.__matcher = matcher
        self.__handle_once = handle_once

    @property
    def handle_once(self) -> bool:
        """Whether the handler unregisters itself after its first event."""
        return self.__handle_once

    @property
    def handler_description(self) -> str:
        """What the handler does, in words."""
        return ""

    @property
    def matcher_description(self) -> str:
        """Which events the handler takes, in words."""
        return ""

    def matches(self, event: Event) -> bool:
        """Return whether this handler wants `event`."""
        return self.__matcher(event)

    def describe(self) -> tuple[str, list[LaunchDescriptionEntity]]:
        """Return a description and the entities the handler would visit, as far as known."""
        return f"{type(self).__name__}(matcher='{self.matcher_description}')", []

    def handle(self, event: Event, context: LaunchContext) -> SomeEntitiesType | None:
        """React to a matching event; return entities to visit. A handler for one event unregisters here."""
        context.extend_locals({"event": event})
        if self.handle_once:
            context.unregister_event_handler(self)
        return None


class EventHandler(BaseEventHandler):
    """Visits entities when a matching event arrives."""

    def __init__(
        self,
        *,
        matcher: Callable[[Event], bool],
        entities: SomeEntitiesType | None = None,
        handle_once: bool = False,
    ) -> None:
        super().__init__(matcher=matcher, handle_once=handle_once)
        # What they are shows when they are visited.
        self.__entities = (
            [entities] if isinstance(entities, LaunchDescriptionEntity) else list(entities or ())
        )

    @property
    def entities(self) -> Iterable[LaunchDescriptionEntity]:
        """The entities to visit."""
        return self.__entities

    def describe(self) -> tuple[str, list[LaunchDescriptionEntity]]:
        """Return a description and the entities the handler visits."""
        return super().describe()[0], list(self.__entities)

    def handle(self, event: Event, context: LaunchContext) -> SomeEntitiesType | None:
        """Return the handler's entities."""
        super().handle(event, context)
        return self.__entities
