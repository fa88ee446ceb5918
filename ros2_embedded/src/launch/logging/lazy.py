"""Handlers that open nothing before the first record."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import sys
from collections.abc import Callable

from .handlers import PerLoggerFormatting


class ScreenHandler(PerLoggerFormatting, logging.Handler):
    """Writes to whatever stdout is at that moment, line by line, so that pipes and test captures see it at
    once.

    Where nobody reads it any more, or its disk is full, lines are lost and the launch goes on.
    """

    _has_told = False

    def emit(self, record: logging.LogRecord) -> None:
        if sys.stdout is None:  # it was closed before the program began
            return
        try:
            sys.stdout.write(self.format(record) + "\n")
            sys.stdout.flush()
        except OSError as error:
            self._lose(error)

    def _lose(self, error: OSError) -> None:
        """Say once that a line did not reach stdout; where none will, let stdout lead nowhere."""
        if not self._has_told:
            self._has_told = True
            with contextlib.suppress(OSError):
                told = f"no output on the screen: {error.strerror}; the launch goes on, see its log files"
                sys.stderr.write(f"{told}\n")
        if error.errno in (errno.EPIPE, errno.EIO):  # the reader, or the terminal, has gone
            with contextlib.suppress(OSError, ValueError):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, sys.stdout.fileno())
                os.close(nowhere)


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
