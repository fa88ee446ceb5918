"""ros2 action list."""

from __future__ import annotations

import argparse

from ...actions import actions_in_graph
from ...node import cli_node, settle
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("-t", "--show-types", action="store_true", help="show the types")
    parser.add_argument("-c", "--count-actions", action="store_true", help="show only how many there are")


def main(args: argparse.Namespace) -> int:
    """Print the names of the actions."""
    with cli_node() as node:
        settle(node)
        actions = sorted(actions_in_graph(node).items())
    if args.count_actions:
        write(f"{len(actions)}\n")
        return 0
    for name, types in actions:
        write(f"{name} [{', '.join(types)}]\n" if args.show_types else f"{name}\n")
    return 0
