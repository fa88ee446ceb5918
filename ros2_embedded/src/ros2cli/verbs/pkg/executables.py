"""ros2 pkg executables."""

from __future__ import annotations

import argparse
import sys

from ...errors import CliError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("package_name", nargs="?", help="the package; all by default")
    parser.add_argument("--full-path", action="store_true", help="print the commands that start them")


def main(args: argparse.Namespace) -> int:
    """Print the executables of one package or of all."""
    from ros2_embedded.packages import executables, package_names

    names = package_names()
    if args.package_name is not None and args.package_name not in names:
        raise CliError(f"package '{args.package_name}' not found; 'ros2 pkg list' lists the packages")
    for package in [args.package_name] if args.package_name else names:
        for name, executable in sorted(executables(package).items()):
            line = " ".join(executable.command()) if args.full_path else f"{package} {name}"
            sys.stdout.write(line + "\n")
    return 0
