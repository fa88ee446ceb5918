"""ros2 security create_enclave."""

from __future__ import annotations

import argparse
from pathlib import Path

from ...security import add_address_arguments, make_enclave, told
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("ROOT", type=Path, help="directory of the keystore")
    parser.add_argument("NAME", help="path of the enclave, such as /arm/talker")
    add_address_arguments(parser)


def main(args: argparse.Namespace) -> int:
    """Make the certificate and the session file of an enclave."""
    with told():
        session = make_enclave(args.ROOT, args.NAME, args)
    write(
        f"creating enclave {args.NAME}; a program joins with ROS_SECURITY_KEYSTORE={args.ROOT.resolve()} "
        f"ROS_SECURITY_ENABLE=true and --ros-args --enclave {args.NAME}, or with "
        f"ZENOH_SESSION_CONFIG_URI={session.resolve()}\n"
    )
    return 0
