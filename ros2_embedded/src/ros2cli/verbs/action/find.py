"""ros2 action find."""

from __future__ import annotations

import argparse

from ...actions import actions_in_graph
from ...node import cli_node, settle
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("action_type", help="type to look for, such as example_interfaces/action/Fibonacci")


def main(args: argparse.Namespace) -> int:
    """Print the actions of a type."""
    with cli_node() as node:
        settle(node)
        for name, types in sorted(actions_in_graph(node).items()):
            if args.action_type in types:
                write(f"{name}\n")
    return 0
