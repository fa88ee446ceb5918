"""The command line of keystores; see the package."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ros2_embedded.security.access import PolicyError, read_policy
from ros2_embedded.security.errors import KeystoreError
from ros2_embedded.security.keystore import VALID_DAYS, Keystore


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m ros2_embedded.security", description="Make Zenoh keystores."
    )
    verbs = parser.add_subparsers(dest="verb", required=True)

    def verb(name: str, text: str, *, member: bool = False) -> argparse.ArgumentParser:
        command = verbs.add_parser(name, help=text, description=text)
        command.add_argument("keystore", type=Path)
        if member:
            command.add_argument("name")
        return command

    create = verb("create", "make a keystore with its certificate authority")
    create.add_argument("--passwords", action="store_true", help="members prove themselves by passwords")
    add = verb("add", "make the certificate and the session file of one member", member=True)
    add.add_argument("--listen", action="append", help="host or host:port; 127.0.0.1:0 if not given")
    add.add_argument("--connect", action="append", default=[], help="host or host:port of a member")
    renew = verb("renew", "make a new certificate for a member", member=True)
    for command in (add, renew):
        command.add_argument(
            "--days", type=int, default=VALID_DAYS, help="for which the certificate is valid"
        )
    verb("remove", "forget a member and its password", member=True)
    policy = verb("policy", "write what each member may do into all session files")
    policy.add_argument("file", type=Path, help="YAML, or XML of SROS2")
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run a verb; returns the exit status."""
    arguments = _parser().parse_args(argv)
    keystore = Keystore(arguments.keystore)
    try:
        if arguments.verb == "create":
            keystore.create(passwords=arguments.passwords)
        elif arguments.verb == "policy":
            keystore.set_policy(read_policy(arguments.file))
        elif arguments.verb == "renew":
            keystore.renew(arguments.name, arguments.days)
        elif arguments.verb == "remove":
            sys.stdout.write(f"{keystore.remove(arguments.name)}\n")
        else:
            listen = arguments.listen or ["127.0.0.1:0"]
            session = keystore.add(arguments.name, listen, arguments.connect, days=arguments.days)
            sys.stdout.write(f"ZENOH_SESSION_CONFIG_URI={session.resolve()}\n")
    except (KeystoreError, PolicyError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except OSError as error:
        sys.stderr.write(f"{error.filename or arguments.keystore}: {error.strerror}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
