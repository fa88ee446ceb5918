"""The event of a timer that has run down."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..event import Event

if TYPE_CHECKING:
    from ..actions.timer_action import TimerAction


class TimerEvent(Event):
    """The period of a `TimerAction` is over."""

    name = "launch.events.TimerEvent"

    def __init__(self, *, timer_action: TimerAction) -> None:
        self.__timer_action = timer_action

    @property
    def timer_action(self) -> TimerAction:
        """The timer."""
        return self.__timer_action
