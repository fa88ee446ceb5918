"""Registering event handlers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..action import Action
from ..event_handler import BaseEventHandler
from ..launch_description_entity import LaunchDescriptionEntity

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class RegisterEventHandler(Action):
    """Registers an event handler."""

    def __init__(self, event_handler: BaseEventHandler, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__event_handler = event_handler

    @property
    def event_handler(self) -> BaseEventHandler:
        """The handler."""
        return self.__event_handler

    def describe_conditional_sub_entities(self) -> list[tuple[str, Iterable[LaunchDescriptionEntity]]]:
        """Return what the handler visits, as far as known."""
        return [self.__event_handler.describe()]

    def describe(self) -> str:
        """Return a short text for people."""
        return f"RegisterEventHandler({self.__event_handler.describe()[0]})"

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Register the handler."""
        context.register_event_handler(self.__event_handler)
        return None
