"""The handlers of the modules `logging` and `logging.handlers`, each able to format loggers differently.

`launch.logging.handlers.Handler`, `.StreamHandler`, `.FileHandler`, `.RotatingFileHandler`, ... are classes
with `setFormatterFor(logger, formatter)`.
"""

from __future__ import annotations

import logging
import logging.handlers
from functools import cache
from typing import Any


class PerLoggerFormatting:
    """Adds a formatter for each logger to a handler."""

    _formatters: dict[str, logging.Formatter] | None = None
    formatter: logging.Formatter | None

    def setFormatterFor(self, logger: logging.Logger, formatter: logging.Formatter) -> None:
        """Format the records of one logger differently."""
        self._formatters = {**(self._formatters or {}), logger.name: formatter}

    def unsetFormatterFor(self, logger: logging.Logger) -> None:
        """Undo `setFormatterFor`."""
        self._formatters = {**(self._formatters or {})}
        self._formatters.pop(logger.name, None)

    def getFormatterFor(self, logger: logging.Logger) -> logging.Formatter | None:
        """The formatter for the records of a logger."""
        return (self._formatters or {}).get(logger.name, self.formatter)

    def format(self, record: logging.LogRecord) -> str:
        """Format a record as its logger wants it."""
        formatter = (self._formatters or {}).get(record.name)
        if formatter is not None:
            return formatter.format(record)
        return super().format(record)  # type: ignore[misc]


@cache
def _class(name: str) -> Any:
    base = getattr(logging, name, None) or getattr(logging.handlers, name)
    return type(name, (PerLoggerFormatting, base), {"__doc__": base.__doc__})


def __getattr__(name: str) -> Any:
    if name.endswith("Handler") and (hasattr(logging, name) or hasattr(logging.handlers, name)):
        return _class(name)
    raise AttributeError(f"module 'launch.logging.handlers' has no attribute {name!r}")
