"""ros2 security list_enclaves."""

from __future__ import annotations

import argparse
from pathlib import Path

from ...errors import CliError
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("ROOT", type=Path, help="directory of the keystore")


def main(args: argparse.Namespace) -> int:
    """Print the enclaves of a keystore."""
    from ros2_embedded.security import Keystore

    if not args.ROOT.is_dir():
        raise CliError(f"No such file or directory: '{args.ROOT}'")
    write("".join(f"/{name}\n" for name in Keystore(args.ROOT).enclaves()))
    return 0
