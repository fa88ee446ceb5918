"""The event of bytes on stdin."""

from __future__ import annotations

from typing import Any

from .process_io import ProcessIO


class ProcessStdin(ProcessIO):
    """Bytes are to be written to a process's stdin."""

    name = "launch.events.process.ProcessStdin"

    def __init__(self, *, text: bytes, **kwargs: Any) -> None:
        super().__init__(text=text, fd=0, **kwargs)
