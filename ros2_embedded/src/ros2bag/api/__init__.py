"""Functions that verbs of `ros2 bag` of other packages use."""

from __future__ import annotations

import argparse
import os
from typing import Any

from rosbag2_py import get_registered_readers


def print_error(string: str) -> str:
    """Return a text as an error: what a verb returns to end with 1 and tell it."""
    return f"[ERROR] [ros2bag]: {string}"


def check_path_exists(value: Any) -> str:
    """Return a path that exists, for `argparse`."""
    if not os.path.exists(value):
        raise argparse.ArgumentTypeError(f"Bag path '{value}' does not exist!")
    return str(value)


def check_positive_float(value: Any) -> float:
    """Return a number greater than zero, for `argparse`."""
    number = _number(float, value)
    if not number > 0.0:
        raise argparse.ArgumentTypeError(f"{value} must be greater than zero")
    return float(number)


def check_not_negative_int(value: Any) -> int:
    """Return a whole number of at least zero, for `argparse`."""
    number = _number(int, value)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{value} must be at least zero")
    return int(number)


def _number(kind: type[int] | type[float], value: Any) -> float:
    try:
        return kind(value)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{value} is not the valid type ({kind.__name__})") from None


def add_standard_reader_args(parser: argparse.ArgumentParser) -> None:
    """Add the path of a bag, and `--storage`."""
    parser.add_argument("bag_path", type=check_path_exists, help="bag to open")
    parser.add_argument(
        "-s",
        "--storage",
        default="",
        choices=sorted(get_registered_readers()),
        help="how the bag is stored; by default the bag itself says",
    )
