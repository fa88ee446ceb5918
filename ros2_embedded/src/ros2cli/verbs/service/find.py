"""ros2 service find."""

from __future__ import annotations

import argparse

from ...node import cli_node, is_hidden, settle
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("service_type", help="type to look for, such as std_srvs/srv/Trigger")
    parser.add_argument("-c", "--count-services", action="store_true", help="show only how many there are")
    parser.add_argument("--include-hidden-services", action="store_true", help="with names of internal use")


def main(args: argparse.Namespace) -> int:
    """Print the services of a type."""
    with cli_node() as node:
        settle(node)
        known = sorted(node.get_service_names_and_types())
    found = [name for name, types in known if args.service_type in types]
    shown = [name for name in found if args.include_hidden_services or not is_hidden(name)]
    write(f"{len(shown)}\n" if args.count_services else "".join(f"{name}\n" for name in shown))
    return 0
