"""ros2 lifecycle list."""

from __future__ import annotations

import argparse

from ...lifecycle import chosen_lifecycle_node, get_transitions
from ...node import cli_node
from ...nodes import add_node_arguments
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_node_arguments(parser)
    parser.add_argument("-a", "--all", action="store_true", help="not only those possible now")


def main(args: argparse.Namespace) -> int:
    """Print the transitions of a lifecycle node."""
    with cli_node() as node:
        target = chosen_lifecycle_node(node, args)
        for description in get_transitions(node, target, every=args.all):
            write(
                f"- {description.transition.label} [{description.transition.id}]\n"
                f"\tStart: {description.start_state.label}\n\tGoal: {description.goal_state.label}\n"
            )
    return 0
