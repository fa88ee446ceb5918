"""ros2 topic type."""

from __future__ import annotations

import argparse

from ...node import cli_node, full_name
from ...topics import wait_for_topic, write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("topic", help="name of the topic")


def main(args: argparse.Namespace) -> int:
    """Print the type of a topic."""
    with cli_node() as node:
        write(wait_for_topic(node, full_name(args.topic)) + "\n")
    return 0
