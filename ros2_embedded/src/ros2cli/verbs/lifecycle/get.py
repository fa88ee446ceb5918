"""ros2 lifecycle get."""

from __future__ import annotations

import argparse

from ...lifecycle import get_state, lifecycle_nodes, require_lifecycle_node
from ...node import cli_node, settle
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("node_name", nargs="?", help="the node; all by default")


def main(args: argparse.Namespace) -> int:
    """Print the state of one lifecycle node or of all."""
    with cli_node() as node:
        if args.node_name is not None:
            state = get_state(node, require_lifecycle_node(node, args.node_name))
            write(f"{state.label} [{state.id}]\n")
            return 0
        settle(node)
        for name in lifecycle_nodes(node):
            state = get_state(node, name)
            write(f"{name}: {state.label} [{state.id}]\n")
    return 0
