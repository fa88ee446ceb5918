"""Log lines of a launch: to the screen as `[INFO] [name]: text`, to files in the log directory.

`launch_config` is the one configuration of the process; the directory is created when the first file is
opened.
"""

from .config import LaunchConfig, get_logger, launch_config
from .directory import get_logging_directory
from .process_output import ProcessOutput, output_sinks

__all__ = [
    "LaunchConfig",
    "ProcessOutput",
    "get_logger",
    "get_logging_directory",
    "launch_config",
    "output_sinks",
]
