"""Loggers of a launch and the files behind them."""

from __future__ import annotations

import datetime
import logging
import os
import socket
import sys
from pathlib import Path

from .directory import get_logging_directory

_ROOT = "launch_root"


class _ScreenHandler(logging.Handler):
    """Writes to whatever stdout is at that moment, line by line, so that pipes and test captures see it at
    once."""

    def emit(self, record: logging.LogRecord) -> None:
        sys.stdout.write(self.format(record) + "\n")
        sys.stdout.flush()


class LaunchConfig:
    """Level, directory and files of a launch's logs."""

    def __init__(self) -> None:
        self._log_dir: Path | None = None
        self._root = logging.getLogger(_ROOT)
        self._root.propagate = False
        self._root.setLevel(logging.INFO)
        self._screen = _ScreenHandler()
        self._screen.setFormatter(logging.Formatter("[%(levelname)s] [%(short_name)s]: %(message)s"))
        self._screen.addFilter(_add_short_name)
        self._root.addHandler(self._screen)
        self._file: logging.FileHandler | None = None

    @property
    def level(self) -> int:
        """The least severe level that is logged, as in the module logging."""
        return self._root.level

    @level.setter
    def level(self, level: int) -> None:
        self._root.setLevel(level)

    @property
    def log_dir(self) -> str:
        """The directory of this launch's log files, created when first asked for: `<log
        root>/<date>-<host>-<pid>`."""
        if self._log_dir is None:
            now = datetime.datetime.now().strftime("%Y-%m-%d-%H-%M-%S-%f")
            self._log_dir = get_logging_directory() / f"{now}-{socket.gethostname()}-{os.getpid()}"
        self._log_dir.mkdir(parents=True, exist_ok=True)
        return str(self._log_dir)

    @log_dir.setter
    def log_dir(self, path: str | os.PathLike[str]) -> None:
        self._log_dir = Path(path)
        self._close_file()

    def open_main_log(self) -> None:
        """Start writing log lines to `launch.log` in the log directory, with time stamps."""
        if self._file is not None:
            return
        self._file = logging.FileHandler(os.path.join(self.log_dir, "launch.log"), encoding="utf-8")
        self._file.setFormatter(
            logging.Formatter("%(created).7f [%(levelname)s] [%(short_name)s]: %(message)s")
        )
        self._file.addFilter(_add_short_name)
        self._root.addHandler(self._file)

    def _close_file(self) -> None:
        if self._file is not None:
            self._root.removeHandler(self._file)
            self._file.close()
            self._file = None


def _add_short_name(record: logging.LogRecord) -> bool:
    record.short_name = record.name.removeprefix(f"{_ROOT}.")
    return True


launch_config = LaunchConfig()
"""The configuration of this process."""


def get_logger(name: str = "launch") -> logging.Logger:
    """Return the logger that writes lines under `[name]` to the screen and to the launch's log file."""
    # Dots would make levels of a hierarchy; a process may be called `node.py-1`, which is a name and no
    # hierarchy.
    return logging.getLogger(f"{_ROOT}.{name}")
