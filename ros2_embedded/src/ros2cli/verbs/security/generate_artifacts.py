"""ros2 security generate_artifacts."""

from __future__ import annotations

import argparse
from pathlib import Path

from ...security import add_address_arguments, keystore_directory, make_enclave, permit, told
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument(
        "-k", "--keystore-root-path", metavar="ROOT", help="the keystore; ROS_SECURITY_KEYSTORE by default"
    )
    parser.add_argument("-e", "--enclaves", nargs="*", default=[], metavar="NAME", help="enclaves to make")
    parser.add_argument(
        "-p", "--policy-files", nargs="*", default=[], metavar="FILE", help="policies whose enclaves to make"
    )
    add_address_arguments(parser)


def main(args: argparse.Namespace) -> int:
    """Make a keystore, the enclaves that are missing in it, and their rights."""
    from ros2_embedded.enclaves import member_name
    from ros2_embedded.security import Keystore, read_policy

    directory = keystore_directory(args.keystore_root_path)
    keystore = Keystore(directory)
    with told():
        if not keystore.exists:
            keystore.create()
            write(f"creating keystore: {directory}\n")
        named = [name for file in args.policy_files for name in read_policy(Path(file))]
        for path in dict.fromkeys([*map(member_name, args.enclaves), *named]):
            if path not in keystore.enclaves():
                make_enclave(directory, path, args)
                write(f"creating enclave /{path}\n")
        for file in args.policy_files:
            permit(directory, file)
            write(f"creating permissions of {file}\n")
    return 0
