"""ros2 topic find."""

from __future__ import annotations

import argparse

from ...node import cli_node, settle
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("message_type", help="type to look for, such as std_msgs/msg/String")


def main(args: argparse.Namespace) -> int:
    """Print the topics of a type."""
    with cli_node() as node:
        settle(node)
        for name, types in sorted(node.get_topic_names_and_types()):
            if args.message_type in types:
                write(f"{name}\n")
    return 0
