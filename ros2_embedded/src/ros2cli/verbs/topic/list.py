"""ros2 topic list."""

from __future__ import annotations

import argparse

from ...node import cli_node, is_hidden, settle
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("-t", "--show-types", action="store_true", help="show the types")
    parser.add_argument("-c", "--count-topics", action="store_true", help="show only how many there are")
    parser.add_argument("-v", "--verbose", action="store_true", help="with types and counts, by direction")
    parser.add_argument(
        "--include-hidden-topics", action="store_true", help="with topics such as /x/_action/status"
    )


def main(args: argparse.Namespace) -> int:
    """Print the names of the topics."""
    with cli_node() as node:
        settle(node)
        topics = sorted(node.get_topic_names_and_types())
        counts = {name: (node.count_publishers(name), node.count_subscribers(name)) for name, _ in topics}
    shown = [(name, types) for name, types in topics if args.include_hidden_topics or not is_hidden(name)]
    if args.count_topics:
        write(f"{len(shown)}\n")
        return 0
    if args.verbose:
        for index, (title, word) in enumerate((("Published", "publisher"), ("Subscribed", "subscriber"))):
            present = [(name, types, counts[name][index]) for name, types in shown if counts[name][index]]
            lines = [_line(name, types, count, word) for name, types, count in present]
            write("\n".join([f"{title} topics:", *lines, "", ""]))
        return 0
    for name, types in shown:
        write(f"{name} [{', '.join(types)}]\n" if args.show_types else f"{name}\n")
    return 0


def _line(name: str, types: list[str], count: int, word: str) -> str:
    return f" * {name} [{', '.join(types)}] {count} {word}{'' if count == 1 else 's'}"
