"""Keystores on the command line, with the verbs of ROS 2's SROS2.

An enclave `/arm/talker` of ROS 2 is the member `arm_talker` of a keystore, see `ros2_embedded.security`.
"""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from .errors import CliError

HERE = "127.0.0.1"


@contextlib.contextmanager
def told() -> Iterator[None]:
    """Turn what goes wrong with a keystore into one line."""
    from ros2_embedded.security import KeystoreError, PolicyError

    try:
        yield
    except (KeystoreError, PolicyError) as error:
        raise CliError(str(error)) from error
    except OSError as error:
        raise CliError(f"{error.filename or 'keystore'}: {error.strerror}") from error


def add_address_arguments(parser: argparse.ArgumentParser) -> None:
    """Add where an enclave listens and connects: on this machine by default, to the enclaves before it."""
    parser.add_argument(
        "--listen", action="append", metavar="HOST[:PORT]", help="its own address; 127.0.0.1 by default"
    )
    parser.add_argument(
        "--connect",
        action="append",
        metavar="HOST[:PORT]",
        help="addresses of others; by default the enclaves of this keystore on this machine",
    )


def make_enclave(directory: Path, path: str, args: argparse.Namespace) -> Path:
    """Make the certificate and the session file of an enclave; returns that file.

    Raises:
        KeystoreError: see `Keystore.add`.
    """
    from ros2_embedded.enclaves import member_name
    from ros2_embedded.security import Keystore

    keystore = Keystore(directory)
    connect = args.connect if args.connect is not None else [HERE] if keystore.enclaves() else []
    return keystore.add(member_name(path), args.listen or [HERE], connect)


def permit(directory: Path, policy_file: str, only: str | None = None) -> None:
    """Give enclaves the rights of a policy file; those that no policy named yet may do everything.

    Args:
        directory: of the keystore.
        policy_file: YAML, or XML of SROS2.
        only: path of the one enclave to take from the file; None for all in it.

    Raises:
        CliError: the file does not name the enclave.
        KeystoreError, PolicyError: see `Keystore.set_policy`.
    """
    from ros2_embedded.enclaves import member_name
    from ros2_embedded.security import Keystore, read_policy
    from ros2_embedded.security.access import ACTIONS

    keystore, policy = Keystore(directory), read_policy(Path(policy_file))
    if only is not None:
        name = member_name(only)
        if name not in policy:
            named = ", ".join(sorted(policy)) or "none"
            raise CliError(f"{policy_file} has no enclave {only}; it has: {named}")
        policy = {name: policy[name]}
    anything = {name: {action: ["/**"] for action in ACTIONS} for name in keystore.enclaves()}
    keystore.set_policy({**anything, **keystore.policy(), **policy})


def keystore_directory(named: str | None) -> Path:
    """The directory that is named, or that of ROS_SECURITY_KEYSTORE.

    Raises:
        CliError: neither is there.
    """
    directory = named or os.environ.get("ROS_SECURITY_KEYSTORE", "")
    if not directory:
        raise CliError("name a keystore, or set ROS_SECURITY_KEYSTORE")
    return Path(directory)
