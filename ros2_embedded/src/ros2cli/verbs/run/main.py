"""ros2 run."""

from __future__ import annotations

import argparse
import os
import shlex
import sys

from ...errors import CliError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("--prefix", help="words before the command, such as 'gdb -ex run --args'")
    parser.add_argument("package_name", help="the package")
    parser.add_argument("executable_name", help="its executable")
    parser.add_argument("argv", nargs=argparse.REMAINDER, help="arguments of the executable")


def main(args: argparse.Namespace) -> int:
    """Become the executable: this process is replaced, so that signals and the exit code are the executable's
    own."""
    from ros2_embedded.packages import executables, package_names

    known = executables(args.package_name)
    if args.executable_name not in known:
        if not known and args.package_name not in package_names():
            raise CliError(f"package '{args.package_name}' not found; 'ros2 pkg list' lists the packages")
        names = ", ".join(sorted(known)) or "none"
        raise CliError(
            f"package '{args.package_name}' has no executable '{args.executable_name}'; it has: {names}"
        )
    command = shlex.split(args.prefix or "") + known[args.executable_name].command() + args.argv
    sys.stdout.flush()
    try:
        os.execvp(command[0], command)
    except OSError as error:
        raise CliError(f"cannot run '{command[0]}': {error.strerror}") from error
