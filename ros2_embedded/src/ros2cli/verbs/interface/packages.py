"""ros2 interface packages."""

from __future__ import annotations

import argparse

from ...interface_index import add_kind_arguments
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_kind_arguments(parser)


def main(args: argparse.Namespace) -> int:
    """Print the packages that have interfaces."""
    from ...interface_index import chosen_kinds, interface_packages

    write("".join(f"{name}\n" for name in interface_packages(chosen_kinds(args))))
    return 0
