"""What a sourced ROS 2 puts into the environment, for programs that look for it there."""

from __future__ import annotations

import os
import sys

_VARIABLES = {"ROS_VERSION": "2", "ROS_PYTHON_VERSION": "3", "ROS_DISTRO": "jazzy"}


def announce() -> None:
    """Set the variables that are not set, for this process and its children.

    The interpreter's own prefix, where pip puts packages, becomes the last one of AMENT_PREFIX_PATH.
    """
    for name, value in _VARIABLES.items():
        os.environ.setdefault(name, value)
    listed = [path for path in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if path]
    if sys.prefix not in listed:
        os.environ["AMENT_PREFIX_PATH"] = os.pathsep.join([*listed, sys.prefix])
