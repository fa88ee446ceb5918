"""ros2 pkg prefix."""

from __future__ import annotations

import argparse
import sys

from ...errors import CliError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("package_name", help="the package")
    parser.add_argument("--share", action="store_true", help="print the share directory")


def main(args: argparse.Namespace) -> int:
    """Print where a package lies."""
    from ament_index_python.packages import (
        PackageNotFoundError,
        get_package_prefix,
        get_package_share_directory,
    )

    look_up = get_package_share_directory if args.share else get_package_prefix
    try:
        sys.stdout.write(look_up(args.package_name) + "\n")
    except (PackageNotFoundError, ValueError) as error:  # or a name that no package can have
        raise CliError("Package not found") from error
    return 0
