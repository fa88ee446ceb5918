"""ros2 security create_keystore."""

from __future__ import annotations

import argparse
from pathlib import Path

from ...security import told
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("ROOT", type=Path, help="directory of the keystore")


def main(args: argparse.Namespace) -> int:
    """Make a keystore with its certificate authority."""
    from ros2_embedded.security import Keystore

    with told():
        Keystore(args.ROOT).create()
    write(f"creating keystore: {args.ROOT}\n")
    return 0
