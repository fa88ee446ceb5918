"""The events of output and input."""

from __future__ import annotations

from typing import Any

from .running_process_event import RunningProcessEvent


class ProcessIO(RunningProcessEvent):
    """Bytes went through one of a process's standard streams (`fd` 0, 1 or 2)."""

    name = "launch.events.process.ProcessIO"

    def __init__(self, *, text: bytes, fd: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__text = text
        self.__fd = fd

    @property
    def text(self) -> bytes:
        """The bytes."""
        return self.__text

    @property
    def fd(self) -> int:
        """The stream: 0 stdin, 1 stdout, 2 stderr."""
        return self.__fd

    @property
    def from_stdin(self) -> bool:
        """Whether the bytes went to stdin."""
        return self.__fd == 0

    @property
    def from_stdout(self) -> bool:
        """Whether the bytes came from stdout."""
        return self.__fd == 1

    @property
    def from_stderr(self) -> bool:
        """Whether the bytes came from stderr."""
        return self.__fd == 2
