"""ros2 security create_permission."""

from __future__ import annotations

import argparse
from pathlib import Path

from ...security import permit, told
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("ROOT", type=Path, help="directory of the keystore")
    parser.add_argument("NAME", help="path of the enclave")
    parser.add_argument("POLICY_FILE_PATH", help="policy: XML of SROS2, or YAML")


def main(args: argparse.Namespace) -> int:
    """Give an enclave the rights that a policy names; sessions that open from now on keep to them."""
    with told():
        permit(args.ROOT, args.POLICY_FILE_PATH, args.NAME)
    write(f"creating permission for enclave {args.NAME}\n")
    return 0
