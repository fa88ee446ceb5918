"""ros2 pkg list."""

from __future__ import annotations

import argparse
import sys


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""


def main(args: argparse.Namespace) -> int:
    """Print the names of all packages."""
    from ros2_embedded.packages import package_names

    sys.stdout.write("".join(f"{name}\n" for name in package_names()))
    return 0
