"""ros2 interface packages."""

from __future__ import annotations

import argparse

from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""


def main(args: argparse.Namespace) -> int:
    """Print the packages that have interfaces."""
    from ...interface_index import interface_packages

    write("".join(f"{name}\n" for name in interface_packages()))
    return 0
