"""Events from launch files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..action import Action
from ..event import Event
from ..launch_description_entity import LaunchDescriptionEntity

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class EmitEvent(Action):
    """Emits an event."""

    def __init__(self, *, event: Event, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not isinstance(event, Event):
            raise TypeError(f"EmitEvent takes an event, not {event!r}")
        self.__event = event

    @property
    def event(self) -> Event:
        """The event."""
        return self.__event

    def describe(self) -> str:
        """Return the event's name."""
        return f"EmitEvent({self.__event.name})"

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Queue the event."""
        context.emit_event_sync(self.__event)
        return None
