"""ros2 interface list."""

from __future__ import annotations

import argparse

from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("-m", "--only-msgs", action="store_true", help="messages only")
    parser.add_argument("-s", "--only-srvs", action="store_true", help="services only")
    parser.add_argument("-a", "--only-actions", action="store_true", help="actions only")


def main(args: argparse.Namespace) -> int:
    """Print all interfaces."""
    from ...interface_index import interface_names, interface_packages

    sections = (
        ("Messages", "msg", args.only_msgs),
        ("Services", "srv", args.only_srvs),
        ("Actions", "action", args.only_actions),
    )
    chosen = any(only for _, _, only in sections)
    packages = interface_packages()
    for title, kind, only in sections:
        if only or not chosen:
            names = [name for package in packages for name in interface_names(package, (kind,))]
            write(f"{title}:\n" + "".join(f"    {name}\n" for name in names))
    return 0
