"""Unregistering event handlers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..action import Action
from ..event_handler import BaseEventHandler
from ..launch_description_entity import LaunchDescriptionEntity

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class UnregisterEventHandler(Action):
    """Unregisters an event handler."""

    def __init__(self, event_handler: BaseEventHandler, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__event_handler = event_handler

    @property
    def event_handler(self) -> BaseEventHandler:
        """The handler."""
        return self.__event_handler

    def describe(self) -> str:
        """Return a short text for people."""
        return f"UnregisterEventHandler({self.__event_handler.describe()[0]})"

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Unregister the handler."""
        context.unregister_event_handler(self.__event_handler)
        return None
