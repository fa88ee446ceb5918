"""What processes wrote."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from launch.events.process import ProcessIO

from .asserts.text import Expected, ends_at, text_of
from .util import NoMatchingProcessException, resolveProcesses, told


class IoHandler:
    """Holds what processes wrote, in the order in which it came."""

    def __init__(self) -> None:
        self._events: list[ProcessIO] = []
        self._actions: dict[str, Any] = {}  # by name; None for a process that wrote nothing yet

    def track(self, process_name: str, action: Any = None) -> None:
        """Know of a process before it writes."""
        if self._actions.get(process_name) is None:
            self._actions[process_name] = action

    def append(self, process_io: ProcessIO) -> None:
        """Keep what a process wrote."""
        self._actions[process_io.process_name] = process_io.action
        self._events.append(process_io)

    def __iter__(self) -> Iterator[ProcessIO]:
        return iter(list(self._events))

    def process_names(self) -> list[str]:
        """The names of all processes."""
        return list(self._actions)

    def processes(self) -> list[Any]:
        """The actions that started them."""
        return [action for action in self._actions.values() if action is not None]

    def __getitem__(self, process: Any) -> list[ProcessIO]:
        """What one process wrote, by its action or its name.

        Raises:
            KeyError: there is no such process.
        """
        names = [name for name, action in self._actions.items() if process in (name, action)]
        if not names:
            raise KeyError(process if isinstance(process, str) else told(process))
        return [event for event in list(self._events) if event.process_name == names[0]]


class ActiveIoHandler(IoHandler):
    """The same while processes run: tests wait for what they write."""

    def __init__(self) -> None:
        super().__init__()
        self._changed = threading.Condition()
        self._is_over = False

    @property
    def io_event(self) -> threading.Condition:
        """Is notified of everything that comes."""
        return self._changed

    def track(self, process_name: str, action: Any = None) -> None:
        """Know of a process before it writes."""
        with self._changed:
            super().track(process_name, action)

    def append(self, process_io: ProcessIO) -> None:
        """Keep what a process wrote, and tell those who wait."""
        with self._changed:
            super().append(process_io)
            self._changed.notify_all()

    def end(self) -> None:
        """Nothing more will come: nobody waits any longer."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def waitFor(
        self,
        expected_output: Expected,
        process: Any = None,
        cmd_args: Any = None,
        *,
        strict_proc_matching: bool = True,
        output_filter: Callable[[str], str] | None = None,
        timeout: float = 10,
        strip_ansi_escape_sequences: bool = True,
        stream: str | None = None,
    ) -> bool:
        """Wait until a process has written something.

        Args:
            expected_output: a text, a regular expression, or a list of them that follow each other.
            process, cmd_args, strict_proc_matching: which process; see `resolveProcesses`.
            output_filter: is given the output and returns what to look at.
            timeout: how long to wait [s].
            strip_ansi_escape_sequences: whether to leave out colours.
            stream: `stdout` or `stderr`; None for either.

        Returns:
            Whether it came in time.
        """

        def came() -> bool:
            try:
                actions = resolveProcesses(
                    self, process=process, cmd_args=cmd_args, strict_proc_matching=strict_proc_matching
                )
            except NoMatchingProcessException:
                return False
            streams = ("stdout", "stderr") if stream is None else (stream,)
            return any(
                ends_at(
                    expected_output,
                    text_of(self[action], one, strip_ansi_escape_sequences, output_filter),
                )
                is not None
                for action in actions
                for one in streams
            )

        end = time.monotonic() + timeout
        with self._changed:
            while not came():
                left = end - time.monotonic()
                if self._is_over or left <= 0:
                    return False
                self._changed.wait(left)
        return True

    def assertWaitFor(self, expected_output: Expected, *args: Any, **kwargs: Any) -> None:
        """As `waitFor`.

        Raises:
            AssertionError: it did not come in time.
        """
        if not self.waitFor(expected_output, *args, **kwargs):
            raise AssertionError(f"Waiting for output timed out: {expected_output!r} did not come")
