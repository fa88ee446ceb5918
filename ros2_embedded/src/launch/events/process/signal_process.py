"""The request to signal a process."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import TYPE_CHECKING

from .process_targeted_event import ProcessTargetedEvent

if TYPE_CHECKING:
    from ...actions.execute_local import ExecuteLocal


class SignalProcess(ProcessTargetedEvent):
    """Send a signal, given by number or name, to the matching processes."""

    name = "launch.events.process.SignalProcess"

    def __init__(
        self, *, signal_number: str | int | signal.Signals, process_matcher: Callable[[ExecuteLocal], bool]
    ) -> None:
        super().__init__(process_matcher=process_matcher)
        number = (
            signal.Signals[signal_number] if isinstance(signal_number, str) else signal.Signals(signal_number)
        )
        self.__signal = number

    @property
    def signal(self) -> signal.Signals:
        """The signal."""
        return self.__signal

    @property
    def signal_name(self) -> str:
        """The signal's name, such as SIGINT."""
        return self.__signal.name
