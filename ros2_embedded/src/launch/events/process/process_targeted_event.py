"""The base of requests to processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...event import Event

if TYPE_CHECKING:
    from ...actions.execute_local import ExecuteLocal


class ProcessTargetedEvent(Event):
    """A request to the processes whose action the matcher accepts."""

    name = "launch.events.process.ProcessTargetedEvent"

    def __init__(self, *, process_matcher: Callable[[ExecuteLocal], bool]) -> None:
        self.__process_matcher = process_matcher

    @property
    def process_matcher(self) -> Callable[[ExecuteLocal], bool]:
        """Decides for each action whether it is meant."""
        return self.__process_matcher
