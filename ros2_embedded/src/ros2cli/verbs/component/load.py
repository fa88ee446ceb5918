"""ros2 component load."""

from __future__ import annotations

import argparse

from ...components import add_load_arguments, load, load_request
from ...node import cli_node, full_name
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("container_node_name", help="the container")
    add_load_arguments(parser)


def main(args: argparse.Namespace) -> int:
    """Load a component into a container that runs."""
    container = full_name(args.container_node_name)
    with cli_node() as node:
        answer = load(node, container, load_request(args))
    write(
        f"Loaded component {answer.unique_id} into '{container}' container node "
        f"as '{answer.full_node_name}'\n"
    )
    return 0
