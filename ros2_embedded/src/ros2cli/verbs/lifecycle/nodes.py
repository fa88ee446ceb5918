"""ros2 lifecycle nodes."""

from __future__ import annotations

import argparse

from ...lifecycle import lifecycle_nodes
from ...node import cli_node, is_hidden, settle
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("-a", "--all", action="store_true", help="with hidden nodes")
    parser.add_argument("-c", "--count-nodes", action="store_true", help="show only how many there are")


def main(args: argparse.Namespace) -> int:
    """Print the names of the nodes that have a lifecycle."""
    with cli_node() as node:
        settle(node)
        names = [name for name in lifecycle_nodes(node) if args.all or not is_hidden(name)]
    write(f"{len(names)}\n" if args.count_nodes else "".join(f"{name}\n" for name in names))
    return 0
