"""The event of a finished action."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..event import Event

if TYPE_CHECKING:
    from ..action import Action


class ExecutionComplete(Event):
    """An action has done its work, including what its future stands for."""

    name = "launch.events.ExecutionComplete"

    def __init__(self, *, action: Action) -> None:
        self.__action = action

    @property
    def action(self) -> Action:
        """The action."""
        return self.__action
