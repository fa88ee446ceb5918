"""ros2 lifecycle get."""

from __future__ import annotations

import argparse

from ...lifecycle import chosen_lifecycle_node, get_state, lifecycle_nodes
from ...node import cli_node, settle
from ...nodes import add_node_arguments
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_node_arguments(parser, optional=True)


def main(args: argparse.Namespace) -> int:
    """Print the state of one lifecycle node or of all."""
    with cli_node() as node:
        if args.node_name is not None:
            state = get_state(node, chosen_lifecycle_node(node, args))
            write(f"{state.label} [{state.id}]\n")
            return 0
        settle(node)
        for name in lifecycle_nodes(node, args.include_hidden_nodes):
            state = get_state(node, name)
            write(f"{name}: {state.label} [{state.id}]\n")
    return 0
