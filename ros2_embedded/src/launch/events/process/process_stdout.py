"""The event of bytes on stdout."""

from __future__ import annotations

from typing import Any

from .process_io import ProcessIO


class ProcessStdout(ProcessIO):
    """Bytes came from a process's stdout."""

    name = "launch.events.process.ProcessStdout"

    def __init__(self, *, text: bytes, **kwargs: Any) -> None:
        super().__init__(text=text, fd=1, **kwargs)
