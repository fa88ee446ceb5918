"""Where logs lie."""

from __future__ import annotations

import os
from pathlib import Path


def get_logging_directory() -> Path:
    """Return `$ROS_LOG_DIR`, else `$ROS_HOME/log`, else `~/.ros/log`: the rule of ROS 2."""
    log_dir = os.environ.get("ROS_LOG_DIR")
    if log_dir:
        return Path(log_dir).expanduser()
    home = os.environ.get("ROS_HOME") or os.path.join("~", ".ros")
    return Path(home).expanduser() / "log"
