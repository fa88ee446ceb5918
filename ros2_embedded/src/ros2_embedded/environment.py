"""The environment variables of a sourced ROS 2, for programs that read them."""

from __future__ import annotations

import os
import sys

_VARIABLES = {"ROS_VERSION": "2", "ROS_PYTHON_VERSION": "3", "ROS_DISTRO": "jazzy"}


def announce() -> None:
    """Set those of the variables that are missing, for this process and its children.

    The interpreter's own prefix, into which pip installs packages, is appended to AMENT_PREFIX_PATH.
    """
    for name, value in _VARIABLES.items():
        os.environ.setdefault(name, value)
    listed = [path for path in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if path]
    if sys.prefix not in listed:
        os.environ["AMENT_PREFIX_PATH"] = os.pathsep.join([*listed, sys.prefix])
