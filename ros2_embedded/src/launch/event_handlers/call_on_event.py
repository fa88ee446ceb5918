"""A function as the reaction to events."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..event import Event
from ..event_handler import BaseEventHandler

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class CallOnEvent(BaseEventHandler):
    """Calls `function(event, context)` with matching events, and visits nothing."""

    def __init__(
        self, matcher: Callable[[Event], bool], function: Callable[[Any, LaunchContext], object]
    ) -> None:
        super().__init__(matcher=matcher)
        self.__function = function

    def handle(self, event: Event, context: LaunchContext) -> None:
        """Call the function."""
        super().handle(event, context)
        self.__function(event, context)
