"""The event of an ended process."""

from __future__ import annotations

from typing import Any

from .running_process_event import RunningProcessEvent


class ProcessExited(RunningProcessEvent):
    """A process ended. `returncode` is minus the signal's number when a signal ended it."""

    name = "launch.events.process.ProcessExited"

    def __init__(self, *, returncode: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__returncode = returncode

    @property
    def returncode(self) -> int:
        """The exit code; minus the signal's number when a signal ended the process."""
        return self.__returncode
