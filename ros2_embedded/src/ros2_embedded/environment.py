"""What a sourced ROS 2 puts into the environment, for programs that look for it there."""

from __future__ import annotations

import os

_VARIABLES = {"ROS_VERSION": "2", "ROS_PYTHON_VERSION": "3", "ROS_DISTRO": "jazzy"}


def announce() -> None:
    """Set the variables that are not set, for this process and its children."""
    for name, value in _VARIABLES.items():
        os.environ.setdefault(name, value)
