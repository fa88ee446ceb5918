"""ros2 component types."""

from __future__ import annotations

import argparse

from ...errors import CliError
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("package_name", nargs="?", help="only those of this package")


def main(args: argparse.Namespace) -> int:
    """Print the components that are installed."""
    from rclpy_components import component_types

    known = component_types()
    if args.package_name is not None:
        if args.package_name not in known:
            raise CliError(f"package '{args.package_name}' has no components")
        write("".join(f"{plugin}\n" for plugin in known[args.package_name]))
        return 0
    for package, plugins in known.items():
        write(f"{package}\n" + "".join(f"  {plugin}\n" for plugin in plugins))
    return 0
