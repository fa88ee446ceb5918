"""How processes started and ended."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

from launch.events.process import ProcessExited, RunningProcessEvent

from .util import NoMatchingProcessException, resolveProcesses, told


class ProcInfoHandler:
    """Holds the newest event of each process: that it started, or how it ended."""

    def __init__(self) -> None:
        self._events: dict[str, RunningProcessEvent] = {}

    def append(self, process_info: RunningProcessEvent) -> None:
        """Keep an event of a process."""
        self._events[process_info.process_name] = process_info

    def __iter__(self) -> Iterator[RunningProcessEvent]:
        return iter(list(self._events.values()))

    def process_names(self) -> list[str]:
        """The names of all processes."""
        return list(self._events)

    def processes(self) -> list[Any]:
        """The actions that started them."""
        return [event.action for event in list(self._events.values())]

    def __getitem__(self, key: Any) -> RunningProcessEvent:
        """The event of one process, by its action or its name; it has a `returncode` once that ended.

        Raises:
            KeyError: there is no such process.
        """
        for name, event in list(self._events.items()):
            if key == name or event.action is key:
                return event
        raise KeyError(key if isinstance(key, str) else told(key))


class ActiveProcInfoHandler(ProcInfoHandler):
    """The same while processes run: tests wait for them to start and to end."""

    def __init__(self) -> None:
        super().__init__()
        self._changed = threading.Condition()
        self._is_over = False

    @property
    def proc_event(self) -> threading.Condition:
        """Is notified of every start and end."""
        return self._changed

    def append(self, process_info: RunningProcessEvent) -> None:
        """Keep an event of a process, and tell those who wait."""
        with self._changed:
            super().append(process_info)
            self._changed.notify_all()

    def end(self) -> None:
        """Nothing more will come: nobody waits any longer."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def assertWaitForStartup(self, process: Any, cmd_args: Any = None, *, timeout: float = 10) -> None:
        """Wait until a process was started, for at most `timeout` [s].

        Raises:
            AssertionError: it was not.
        """
        if not self._wait_for(lambda event: True, process, cmd_args, timeout):
            raise AssertionError(f"Timed out waiting for process {told(process)} to start")

    def assertWaitForShutdown(self, process: Any, cmd_args: Any = None, *, timeout: float = 10) -> None:
        """Wait until a process has ended, for at most `timeout` [s].

        Raises:
            AssertionError: it has not.
        """
        ended: Callable[[RunningProcessEvent], bool] = lambda event: isinstance(event, ProcessExited)  # noqa: E731
        if not self._wait_for(ended, process, cmd_args, timeout):
            raise AssertionError(f"Timed out waiting for process {told(process)} to finish")

    def _wait_for(
        self, holds: Callable[[RunningProcessEvent], bool], process: Any, cmd_args: Any, timeout: float
    ) -> bool:
        def came() -> bool:
            try:
                (action, *_) = resolveProcesses(self, process=process, cmd_args=cmd_args)
            except NoMatchingProcessException:
                return False
            return holds(self[action])

        with self._changed:
            self._changed.wait_for(lambda: came() or self._is_over, timeout)
            return came()
