"""Reaction to the request to include a description."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..event import Event
from ..event_handler import BaseEventHandler
from ..events.include_launch_description import IncludeLaunchDescription
from ..some_entities_type import SomeEntitiesType

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class OnIncludeLaunchDescription(BaseEventHandler):
    """Visits the description that an `IncludeLaunchDescription` event carries."""

    def __init__(self, *, handle_once: bool = False) -> None:
        super().__init__(
            matcher=lambda event: isinstance(event, IncludeLaunchDescription), handle_once=handle_once
        )

    def handle(self, event: Event, context: LaunchContext) -> SomeEntitiesType | None:
        """Return the description."""
        super().handle(event, context)
        return event.launch_description if isinstance(event, IncludeLaunchDescription) else None
