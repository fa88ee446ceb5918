"""ros2 interface package."""

from __future__ import annotations

import argparse

from ...errors import CliError
from ...interface_index import add_kind_arguments
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("package_name", help="the package")
    add_kind_arguments(parser)


def main(args: argparse.Namespace) -> int:
    """Print the interfaces of a package."""
    from ros2_embedded.packages import package_names

    from ...interface_index import chosen_kinds, interface_names

    if args.package_name not in package_names():
        raise CliError(f"Unknown package '{args.package_name}'")
    names = interface_names(args.package_name, chosen_kinds(args))
    write("".join(f"{name}\n" for name in names))
    return 0
