"""The event of bytes on stderr."""

from __future__ import annotations

from typing import Any

from .process_io import ProcessIO


class ProcessStderr(ProcessIO):
    """Bytes came from a process's stderr."""

    name = "launch.events.process.ProcessStderr"

    def __init__(self, *, text: bytes, **kwargs: Any) -> None:
        super().__init__(text=text, fd=2, **kwargs)
