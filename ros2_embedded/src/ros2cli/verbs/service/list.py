"""ros2 service list."""

from __future__ import annotations

import argparse

from ...node import NODE_NAME_PREFIX, cli_node, is_hidden, settle
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("-t", "--show-types", action="store_true", help="show the types")
    parser.add_argument("-c", "--count-services", action="store_true", help="show only how many there are")
    parser.add_argument("--include-hidden-services", action="store_true", help="with services of actions")


def main(args: argparse.Namespace) -> int:
    """Print the names of the services."""
    with cli_node() as node:
        settle(node)
        own = (
            f"/{NODE_NAME_PREFIX}_"  # of this verb's node, of other verbs' and of what stands for the daemon
        )
        services = sorted(item for item in node.get_service_names_and_types() if not item[0].startswith(own))
    shown = [(name, types) for name, types in services if args.include_hidden_services or not is_hidden(name)]
    if args.count_services:
        write(f"{len(shown)}\n")
        return 0
    for name, types in shown:
        write(f"{name} [{', '.join(types)}]\n" if args.show_types else f"{name}\n")
    return 0
