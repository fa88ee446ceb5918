"""Loggers: text on stderr and messages on `/rosout`."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from enum import IntEnum
from pathlib import Path
from threading import RLock
from types import FrameType
from typing import TYPE_CHECKING, Any

from rclpy.log_console import write_record
from rclpy.log_filters import CallSite, checked_options

if TYPE_CHECKING:
    from rclpy.arguments import RosArguments


class LoggingSeverity(IntEnum):
    """Severities; a logger writes what is at least as severe as its level."""

    UNSET = 0
    DEBUG = 10
    INFO = 20
    WARN = 30
    ERROR = 40
    FATAL = 50


_LEVEL_NAMES = {**{level.name: level for level in LoggingSeverity}, "WARNING": LoggingSeverity.WARN}
MAX_MESSAGE = 20_000
"""Characters of a log message; a longer one is cut, since /rosout keeps the last ones for who comes late."""
_RosoutSink = Callable[["LogRecord"], None]
_levels: dict[str, LoggingSeverity] = {}
_default_level = LoggingSeverity.INFO
_sinks: dict[str, _RosoutSink] = {}
_console = True
_lock = RLock()  # a signal may interrupt who holds it


class LogRecord:
    """One log message, as `/rosout` carries it."""

    __slots__ = ("file", "function", "line", "message", "name", "severity", "stamp")

    def __init__(
        self, stamp: int, severity: LoggingSeverity, name: str, message: str, frame: FrameType
    ) -> None:
        """Take the source position from the frame of the caller; stamp in nanoseconds."""
        self.stamp, self.severity, self.name, self.message = stamp, severity, name, message
        self.file, self.function, self.line = frame.f_code.co_filename, frame.f_code.co_name, frame.f_lineno


def get_logging_severity_from_string(log_severity: str) -> LoggingSeverity:
    """The severity of a name, in any case.

    Raises:
        RuntimeError: no such severity.
    """
    try:
        return _LEVEL_NAMES[log_severity.upper()]
    except KeyError:
        raise RuntimeError(f"failed to get logging severity from string {log_severity!r}") from None


def configure_from_arguments(arguments: RosArguments) -> None:
    """Apply `--log-level` and the switches of the console output."""
    global _default_level, _console
    _console = arguments.stdout
    for name, level in arguments.log_levels:
        severity = get_logging_severity_from_string(level)
        if name:
            _levels[name] = severity
        else:
            _default_level = severity


def add_rosout_sink(name: str, sink: _RosoutSink) -> None:
    """Send the records of a logger and of its children to a function as well."""
    with _lock:
        _sinks[name] = sink


def remove_rosout_sink(name: str, sink: _RosoutSink) -> None:
    """Undo `add_rosout_sink`."""
    with _lock:
        if _sinks.get(name) == sink:
            del _sinks[name]


def _ancestors(name: str) -> list[str]:
    """The name and the names above it: `a.b`, `a`."""
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(len(parts), 0, -1)]


def set_logger_level(name: str, level: int, detailed_error: bool = False) -> None:
    """Set the level of a logger; an empty name sets the default level."""
    global _default_level
    severity = LoggingSeverity(level)
    if not name:
        _default_level = severity
    elif severity is LoggingSeverity.UNSET:
        _levels.pop(name, None)
    else:
        _levels[name] = severity


def get_logger_level(name: str) -> LoggingSeverity:
    """The level a logger was given itself; UNSET when it has its ancestors'."""
    return _levels.get(name, LoggingSeverity.UNSET) if name else _default_level


def clear_config() -> None:
    """Forget the levels of all loggers; the default is INFO again."""
    global _default_level
    _levels.clear()
    _default_level = LoggingSeverity.INFO


def initialize() -> None:
    """Nothing to do: loggers work from the start."""


def shutdown() -> None:
    """Nothing to do: messages are written at once."""


def get_logger_effective_level(name: str) -> LoggingSeverity:
    """The level that counts: the logger's own, that of the nearest ancestor, or the default."""
    for ancestor in _ancestors(name):
        level = _levels.get(ancestor)
        if level is not None:
            return level
    return _default_level


class RcutilsLogger:
    """A named logger; dots in the name make the hierarchy."""

    def __init__(self, name: str = "") -> None:
        """Make a logger; use `get_logger` instead."""
        self.name = name
        self._sites: dict[tuple[str, int, int], CallSite] = {}

    def get_child(self, name: str) -> RcutilsLogger:
        """The logger `<this>.<name>`.

        Raises:
            ValueError: an empty name.
        """
        if not name:
            raise ValueError("Child logger name must not be empty.")
        return get_logger(f"{self.name}.{name}" if self.name else name)

    def set_level(self, level: int) -> None:
        """Set this logger's level."""
        set_logger_level(self.name, level)

    def get_effective_level(self) -> LoggingSeverity:
        """The level that counts: the logger's own, that of the nearest ancestor, or the default."""
        return get_logger_effective_level(self.name)

    def is_enabled_for(self, severity: int) -> bool:
        """Whether messages of a severity are written."""
        return severity >= self.get_effective_level()

    def log(
        self, message: str, severity: int, name: str | None = None, _depth: int = 1, **kwargs: Any
    ) -> bool:
        """Write a message.

        A place in the program must always log with the same name, severity and filters; messages below the
        level of the logger do not count.

        Args:
            message: the text.
            severity: a `LoggingSeverity`.
            name: logger name instead of this logger's.
            **kwargs: `once`: only at the first execution of this call; `skip_first`: not at the first one;
                `throttle_duration_sec`: at most once in this time [s]; `throttle_time_source_type`: the
                clock of the throttle, None takes system time.

        Returns:
            Whether it was written.

        Raises:
            TypeError: an unknown option, or a clock without a duration.
            ValueError: name, severity or filters changed since the last execution of this call.
        """
        level = LoggingSeverity(severity)
        full_name = self.name if name is None else name
        if level < get_logger_effective_level(full_name):
            return False
        options = checked_options(kwargs) if kwargs else kwargs
        frame = sys._getframe(_depth)
        key = (frame.f_code.co_filename, frame.f_lineno, frame.f_lasti)
        site = self._sites.get(key)
        if site is None:
            site = self._sites[key] = CallSite(full_name, level, options)
        else:
            site.check(full_name, level, options)
        if not site.admit():
            return False
        _write(LogRecord(time.time_ns(), level, full_name, _cut(str(message)), frame))
        return True

    def debug(self, message: str, **kwargs: Any) -> bool:
        """Write with severity DEBUG; see `log`."""
        return self.log(message, LoggingSeverity.DEBUG, _depth=2, **kwargs)

    def info(self, message: str, **kwargs: Any) -> bool:
        """Write with severity INFO; see `log`."""
        return self.log(message, LoggingSeverity.INFO, _depth=2, **kwargs)

    def warning(self, message: str, **kwargs: Any) -> bool:
        """Write with severity WARN; see `log`."""
        return self.log(message, LoggingSeverity.WARN, _depth=2, **kwargs)

    def warn(self, message: str, **kwargs: Any) -> bool:
        """Write with severity WARN; see `log`."""
        return self.log(message, LoggingSeverity.WARN, _depth=2, **kwargs)

    def error(self, message: str, **kwargs: Any) -> bool:
        """Write with severity ERROR; see `log`."""
        return self.log(message, LoggingSeverity.ERROR, _depth=2, **kwargs)

    def fatal(self, message: str, **kwargs: Any) -> bool:
        """Write with severity FATAL; see `log`."""
        return self.log(message, LoggingSeverity.FATAL, _depth=2, **kwargs)


def _cut(message: str) -> str:
    if len(message) <= MAX_MESSAGE:
        return message
    return f"{message[:MAX_MESSAGE]}... (cut: {len(message)} characters)"


def _write(record: LogRecord) -> None:
    """Hand a record to the console and to the sink of the nearest ancestor that has one."""
    if _console:
        write_record(record)
    with _lock:
        sink = next((_sinks[name] for name in _ancestors(record.name) if name in _sinks), None)
    if sink is not None:
        sink(record)


_loggers: dict[str, RcutilsLogger] = {}


def get_logger(name: str) -> RcutilsLogger:
    """The logger of a name; the same object each time.

    Raises:
        ValueError: an empty name.
    """
    if not name:
        raise ValueError("Logger name must not be empty.")
    with _lock:
        return _loggers.setdefault(name, RcutilsLogger(name))


_root_logger = RcutilsLogger()


def get_logging_directory() -> Path:
    """Where ROS programs put log files: ROS_LOG_DIR, else `$ROS_HOME/log`, else `~/.ros/log`.

    This library writes none itself.
    """
    chosen = os.environ.get("ROS_LOG_DIR", "")
    home = os.environ.get("ROS_HOME", "") or "~/.ros"
    return Path(chosen).expanduser() if chosen else Path(home).expanduser() / "log"
