"""ros2 component unload."""

from __future__ import annotations

import argparse

from ...components import unload
from ...node import cli_node, full_name
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("container_node_name", help="the container")
    parser.add_argument("component_uid", type=int, nargs="+", help="numbers of components, see the verb list")


def main(args: argparse.Namespace) -> int:
    """Unload components from a container."""
    container = full_name(args.container_node_name)
    with cli_node() as node:
        for number in args.component_uid:
            unload(node, container, number)
            write(f"Unloaded component {number} from '{container}' container node\n")
    return 0
