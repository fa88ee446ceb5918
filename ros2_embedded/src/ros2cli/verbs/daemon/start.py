"""ros2 daemon start."""

from __future__ import annotations

import argparse

from ...daemon import STATUS
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""


def main(args: argparse.Namespace) -> int:
    """Say that no daemon is needed."""
    write(STATUS)
    return 0
