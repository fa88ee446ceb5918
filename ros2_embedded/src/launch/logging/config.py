"""Loggers of a launch and the files behind them."""

from __future__ import annotations

import datetime
import logging
import os
import socket
from collections.abc import Callable
from typing import Literal, TypeAlias

from .directory import get_logging_directory
from .lazy import LazyFileHandler, ScreenHandler

LogStyle: TypeAlias = Literal["%", "{", "$"]
HandlerFactory: TypeAlias = Callable[..., logging.Handler]

MAIN_LOG = "launch.log"
_FORMATS = {
    "default": "[{levelname}] [{name}]: {message}",
    "default_with_timestamp": "{created:.7f} [{levelname}] [{name}]: {message}",
}
_loggers: set[logging.Logger] = set()


def make_unique_log_dir(*, base_path: str) -> str:
    """Make a directory `<date>-<host>-<pid>` and return its path."""
    now = datetime.datetime.now().strftime("%Y-%m-%d-%H-%M-%S-%f")
    path = os.path.join(base_path, f"{now}-{socket.gethostname()}-{os.getpid()}")
    os.makedirs(path, exist_ok=True)
    return path


def renew_latest_log_dir(*, log_dir: str) -> bool:
    """Let the link `latest` point to a directory; returns False when something else has that name."""
    latest = os.path.join(os.path.dirname(log_dir), "latest")
    if os.path.lexists(latest) and not os.path.islink(latest):
        return False
    temporary = f"{latest}.{os.getpid()}"
    os.symlink(log_dir, temporary, target_is_directory=True)
    os.replace(temporary, latest)
    return True


class LaunchConfig:
    """Level, formats, directory and files of a launch's logs."""

    def __init__(self) -> None:
        self._level = logging.INFO
        self.reset()

    def reset(self) -> None:
        """Forget everything that was set."""
        self._log_dir: str | None = None
        self._log_handler_factory: HandlerFactory | None = None
        self.log_file_name = MAIN_LOG
        self.file_handlers: dict[str, LazyFileHandler] = {}
        self.screen_handler: ScreenHandler | None = None
        self.level = logging.INFO
        self.set_screen_format("default")
        self.set_log_format("default")

    @property
    def level(self) -> int:
        """The least severe level that is logged, as in the module logging."""
        return self._level

    @level.setter
    def level(self, level: int) -> None:
        self._level = level
        for logger in _loggers:
            logger.setLevel(level)

    @property
    def log_dir(self) -> str:
        """The directory of this launch's log files, made when first asked for below the ROS log directory."""
        if self._log_dir is None:
            from launch import logging as package  # where programs replace the two functions

            self._log_dir = package._make_unique_log_dir(base_path=str(get_logging_directory()))
            try:
                package._renew_latest_log_dir(log_dir=self._log_dir)
            except OSError as error:
                get_logger("launch").debug(f"no link to the latest log directory: {error}")
        os.makedirs(self._log_dir, exist_ok=True)
        return str(self._log_dir)

    @log_dir.setter
    def log_dir(self, path: str | os.PathLike[str] | None) -> None:
        if path is not None and not os.path.isdir(path):
            raise ValueError(f"log directory: {path} is not a directory")
        self._log_dir = None if path is None else os.fspath(path)

    @property
    def log_handler_factory(self) -> HandlerFactory:
        """Makes the handler of a log file of `(path, encoding=...)`."""
        return self._log_handler_factory or logging.FileHandler

    @log_handler_factory.setter
    def log_handler_factory(self, factory: HandlerFactory) -> None:
        self._log_handler_factory = factory

    def set_screen_format(self, screen_format: str | None, *, screen_style: LogStyle | None = None) -> None:
        """Set the format of lines on the screen.

        Args:
            screen_format: 'default', 'default_with_timestamp', or a format of `logging.Formatter`; the
                environment's OVERRIDE_LAUNCH_SCREEN_FORMAT wins.
            screen_style: style of a format of your own.

        Raises:
            ValueError: a style for a format that has its own.
        """
        self.screen_formatter = _formatter(screen_format, screen_style, "OVERRIDE_LAUNCH_SCREEN_FORMAT")
        if self.screen_handler is not None:
            self.screen_handler.setFormatter(self.screen_formatter)

    def set_log_format(self, log_format: str | None, *, log_style: LogStyle | None = None) -> None:
        """Set the format of lines in the main log file, as `set_screen_format` does for the screen; the
        environment's OVERRIDE_LAUNCH_LOG_FORMAT wins."""
        if log_format == "default":
            _refuse_style(log_format, log_style)
            log_format = _FORMATS["default_with_timestamp"]
        self.file_formatter = _formatter(log_format, log_style, "OVERRIDE_LAUNCH_LOG_FORMAT")
        for handler in self.file_handlers.values():
            handler.setFormatter(self.file_formatter)

    def get_screen_handler(self) -> ScreenHandler:
        """The one handler of the screen."""
        if self.screen_handler is None:
            self.screen_handler = ScreenHandler()
            self.screen_handler.setFormatter(self.screen_formatter)
        return self.screen_handler

    def get_log_file_path(self, file_name: str = MAIN_LOG) -> str:
        """The path of a log file."""
        return os.path.join(self.log_dir, file_name)

    def get_log_file_handler(self, file_name: str = MAIN_LOG) -> LazyFileHandler:
        """The one handler of a log file; the file is made with its first line."""
        if file_name not in self.file_handlers:
            handler = LazyFileHandler(
                lambda: self.log_handler_factory(self.get_log_file_path(file_name), encoding="utf-8")
            )
            handler.setFormatter(self.file_formatter)
            self.file_handlers[file_name] = handler
        return self.file_handlers[file_name]

    def close_log_file(self, file_name: str) -> None:
        """Close a log file; the next line opens it again."""
        handler = self.file_handlers.pop(file_name, None)
        if handler is not None:
            handler.close()


def _refuse_style(name: str, style: LogStyle | None) -> None:
    if style is not None:
        raise ValueError(f"the format {name!r} has its own style; leave the style out")


def _formatter(text: str | None, style: LogStyle | None, variable: str) -> logging.Formatter | None:
    override = os.environ.get(variable)
    if override:
        text, style = override.encode("latin1").decode("unicode_escape"), "{"
    elif text in _FORMATS:
        _refuse_style(text, style)
        text = _FORMATS[text]
    return None if text is None else logging.Formatter(text, style=style or "{")


launch_config = LaunchConfig()
"""The configuration of this process."""


def track(logger: logging.Logger) -> None:
    """Give a logger the level of the launch, now and when it changes; its lines go to its handlers only."""
    if logger not in _loggers:
        _loggers.add(logger)
        logger.propagate = False
        logger.setLevel(launch_config.level)


def get_logger(name: str = "launch") -> logging.Logger:
    """Return the logger that writes lines under `[name]` to the screen and to the launch's log file."""
    logger = logging.getLogger(name)
    track(logger)
    for handler in (
        launch_config.get_screen_handler(),
        launch_config.get_log_file_handler(launch_config.log_file_name),
    ):
        if handler not in logger.handlers:
            logger.addHandler(handler)
    return logger


def log_launch_config(*, logger: logging.Logger | None = None) -> None:
    """Log where the log files are and what is logged."""
    chosen = logger or get_logger("launch")
    if launch_config.file_handlers:
        chosen.info(f"All log files can be found below {launch_config.log_dir}")
    chosen.info(f"Default logging verbosity is set to {logging.getLevelName(launch_config.level)}")


def reset() -> None:
    """Forget all loggers and the configuration."""
    for logger in _loggers:
        logger.handlers.clear()
        logger.setLevel(logging.NOTSET)
        logger.propagate = True
    _loggers.clear()
    launch_config.reset()
