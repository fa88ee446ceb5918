"""The text of log messages on the console, as rcutils writes it; the environment chooses format, colour and
stream (ROS 2 documentation, "Logging": RCUTILS_CONSOLE_OUTPUT_FORMAT and others).
"""

from __future__ import annotations

import os
import re
import sys
import time
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rclpy.logging import LogRecord

DEFAULT_FORMAT = "[{severity}] [{time}] [{name}]: {message}"
_TOKEN = re.compile(r"\{(\w+)\}")
_COLOURS = {
    "DEBUG": "\033[32m",
    "INFO": "\033[0m",
    "WARN": "\033[33m",
    "ERROR": "\033[31m",
    "FATAL": "\033[31m",
}
_RESET = "\033[0m"


def format_record(record: LogRecord, template: str) -> str:
    """A record in a format of `{severity}`, `{name}`, `{message}`, `{time}` [s], `{time_as_nanoseconds}`,
    `{date_time_with_ms}`, `{file_name}`, `{function_name}` and `{line_number}`; unknown words stay.
    """
    seconds, nanoseconds = divmod(record.stamp, 1_000_000_000)
    values = {
        "severity": record.severity.name,
        "name": record.name,
        "message": record.message,
        "time": f"{seconds}.{nanoseconds:09d}",
        "time_as_nanoseconds": str(record.stamp),
        "file_name": record.file,
        "function_name": record.function,
        "line_number": str(record.line),
    }
    if "{date_time_with_ms}" in template:
        date = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
        values["date_time_with_ms"] = f"{date}.{nanoseconds // 1_000_000:03d}"
    return _TOKEN.sub(lambda match: values.get(match[1], match[0]), template)


def _colours(stream: TextIO) -> bool:
    wanted = os.environ.get("RCUTILS_COLORIZED_OUTPUT", "")
    return wanted == "1" if wanted in ("0", "1") else stream.isatty()


def write_record(record: LogRecord) -> None:
    """Write a record to stderr, or to stdout when RCUTILS_LOGGING_USE_STDOUT is 1."""
    stream = sys.stdout if os.environ.get("RCUTILS_LOGGING_USE_STDOUT") == "1" else sys.stderr
    text = format_record(record, os.environ.get("RCUTILS_CONSOLE_OUTPUT_FORMAT") or DEFAULT_FORMAT)
    if _colours(stream):
        text = f"{_COLOURS.get(record.severity.name, _RESET)}{text}{_RESET}"
    stream.write(f"{text}\n")
    stream.flush()
