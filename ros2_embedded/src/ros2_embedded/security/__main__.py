"""The command line of keystores; see the package."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ros2_embedded.security.access import PolicyError, read_policy
from ros2_embedded.security.keystore import Keystore, KeystoreError


def main(argv: list[str] | None = None) -> int:
    """Run a verb; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m ros2_embedded.security", description="Make Zenoh keystores."
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb, text in (
        ("create", "make a keystore with its certificate authority"),
        ("add", "make the certificate and the session file of one member"),
        ("policy", "write what each member may do into all session files"),
    ):
        command = verbs.add_parser(verb, help=text)
        command.add_argument("keystore", type=Path)
        if verb == "add":
            command.add_argument("name")
            command.add_argument(
                "--listen", action="append", help="host or host:port; 127.0.0.1:0 if not given"
            )
            command.add_argument(
                "--connect", action="append", default=[], help="host or host:port of a member"
            )
        elif verb == "policy":
            command.add_argument("file", type=Path)
    arguments = parser.parse_args(argv)
    keystore = Keystore(arguments.keystore)
    try:
        if arguments.verb == "create":
            keystore.create()
        elif arguments.verb == "policy":
            keystore.set_policy(read_policy(arguments.file))
        else:
            session = keystore.add(arguments.name, arguments.listen or ["127.0.0.1:0"], arguments.connect)
            sys.stdout.write(f"ZENOH_SESSION_CONFIG_URI={session.resolve()}\n")
    except (KeystoreError, PolicyError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
