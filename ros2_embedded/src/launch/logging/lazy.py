"""Handlers that open nothing before the first record."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable

from .handlers import PerLoggerFormatting


class ScreenHandler(PerLoggerFormatting, logging.Handler):
    """Writes to whatever stdout is at that moment, line by line, so that pipes and test captures see it at
    once."""

    def emit(self, record: logging.LogRecord) -> None:
        sys.stdout.write(self.format(record) + "\n")
        sys.stdout.flush()


class LazyFileHandler(PerLoggerFormatting, logging.Handler):
    """Stands for the handler of a log file, which is made when the first record comes."""

    def __init__(self, make: Callable[[], logging.Handler]) -> None:
        super().__init__()
        self._make = make
        self._inner: logging.Handler | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if self._inner is None:
            try:
                self._inner = self._make()
            except OSError as error:
                self._inner = logging.NullHandler()
                sys.stderr.write(f"no log file: {error}\n")
            self._inner.setFormatter(_AsFormatter(self))
        self._inner.emit(record)

    def flush(self) -> None:
        """Write out what the file's handler keeps."""
        if self._inner is not None:
            self._inner.flush()

    def close(self) -> None:
        """Close the file."""
        if self._inner is not None:
            self._inner.close()
            self._inner = None
        super().close()


class _AsFormatter(logging.Formatter):
    """Formats as another handler does."""

    def __init__(self, handler: logging.Handler) -> None:
        super().__init__()
        self._handler = handler

    def format(self, record: logging.LogRecord) -> str:
        return self._handler.format(record)
