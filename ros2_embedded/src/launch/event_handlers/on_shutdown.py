"""Reaction to the end of the launch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..event import Event
from ..event_handler import BaseEventHandler, as_entity_list
from ..events.shutdown import Shutdown
from ..launch_description_entity import LaunchDescriptionEntity
from ..some_entities_type import SomeEntitiesType
from .on_action_event_base import OnEvent

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class OnShutdown(BaseEventHandler):
    """Visits entities when the launch is asked to shut down, before its processes are gone.

    Args:
        on_shutdown: entities to visit, or a callable `(event, context)` that returns them.
    """

    def __init__(self, *, on_shutdown: OnEvent, handle_once: bool = False) -> None:
        super().__init__(matcher=lambda event: isinstance(event, Shutdown), handle_once=handle_once)
        self.__on_shutdown = on_shutdown

    def describe(self) -> tuple[str, list[LaunchDescriptionEntity]]:
        """Return a description and the entities, as far as known."""
        entities = [] if callable(self.__on_shutdown) else as_entity_list(self.__on_shutdown)
        return "OnShutdown()", entities

    def handle(self, event: Event, context: LaunchContext) -> SomeEntitiesType | None:
        """Return the entities, or what the callable returned."""
        super().handle(event, context)
        if callable(self.__on_shutdown):
            result: SomeEntitiesType | None = self.__on_shutdown(event, context)
            return result
        return self.__on_shutdown
