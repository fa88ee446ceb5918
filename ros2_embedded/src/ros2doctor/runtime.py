"""Which rclpy this interpreter finds: the embedded one, or that of a ROS 2 installation."""

from __future__ import annotations

import importlib.util
from pathlib import Path

OWN = Path(__file__).parents[1]
"""Folder that holds this package, and the embedded rclpy beside it."""


def rclpy_origin() -> str:
    """Return the file of the rclpy that would be imported, or "not found"."""
    found = importlib.util.find_spec("rclpy")
    return found.origin if found is not None and found.origin else "not found"


def is_embedded() -> bool:
    """Whether that rclpy is the one of ros2-embedded."""
    return Path(rclpy_origin()).is_relative_to(OWN)
