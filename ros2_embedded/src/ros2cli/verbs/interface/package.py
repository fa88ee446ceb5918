"""ros2 interface package."""

from __future__ import annotations

import argparse

from ...errors import CliError
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("package_name", help="the package")


def main(args: argparse.Namespace) -> int:
    """Print the interfaces of a package."""
    from ...interface_index import interface_names

    names = interface_names(args.package_name)
    if not names:
        raise CliError(f"package '{args.package_name}' has no interfaces; see 'ros2 interface packages'")
    write("".join(f"{name}\n" for name in names))
    return 0
