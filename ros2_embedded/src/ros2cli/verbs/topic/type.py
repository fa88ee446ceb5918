"""ros2 topic type."""

from __future__ import annotations

import argparse

from ...node import cli_node, full_name, is_hidden
from ...topics import wait_for_topic, write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("topic", help="name of the topic")
    parser.add_argument(
        "--include-hidden-topics", action="store_true", help="look at topics such as /x/_action/status too"
    )


def main(args: argparse.Namespace) -> int:
    """Print the type of a topic; the exit code is 1 for a hidden one without the option."""
    topic = full_name(args.topic)
    if is_hidden(topic) and not args.include_hidden_topics:
        return 1
    with cli_node() as node:
        write(wait_for_topic(node, topic) + "\n")
    return 0
