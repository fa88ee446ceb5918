"""ros2 node list."""

from __future__ import annotations

import argparse
import sys

from ...node import cli_node, is_hidden, settle
from ...nodes import node_names
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("-a", "--all", action="store_true", help="with hidden nodes")
    parser.add_argument("-c", "--count-nodes", action="store_true", help="show only how many there are")


def main(args: argparse.Namespace) -> int:
    """Print the names of the nodes; warn of names that are there more than once."""
    with cli_node() as node:
        settle(node)
        shown = [name for name in node_names(node) if args.all or not is_hidden(name)]
    if args.count_nodes:
        write(f"{len(shown)}\n")
        return 0
    if len(set(shown)) < len(shown):
        sys.stderr.write("WARNING: some nodes share an exact name, which can have unintended side effects\n")
    write("".join(f"{name}\n" for name in shown))
    return 0
