"""Log lines of a launch: to the screen as `[INFO] [name]: text`, to files in the log directory.

`launch_config` is the one configuration of the process; the directory is made with the first line.
"""

from logging import Logger as LaunchLogger

from . import handlers
from .config import LaunchConfig, get_logger, launch_config, log_launch_config, reset
from .config import make_unique_log_dir as _make_unique_log_dir
from .config import renew_latest_log_dir as _renew_latest_log_dir
from .directory import get_logging_directory
from .process_output import ProcessOutput, get_output_loggers, output_sinks

__all__ = [
    "LaunchConfig",
    "LaunchLogger",
    "ProcessOutput",
    "_make_unique_log_dir",
    "_renew_latest_log_dir",
    "get_logger",
    "get_logging_directory",
    "get_output_loggers",
    "handlers",
    "launch_config",
    "log_launch_config",
    "output_sinks",
    "reset",
]
