"""ros2 action type."""

from __future__ import annotations

import argparse

from ...actions import actions_in_graph
from ...errors import CliError
from ...node import cli_node, full_name, wait_for
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("action", help="name of the action")


def main(args: argparse.Namespace) -> int:
    """Print the type of an action."""
    name = full_name(args.action)
    with cli_node() as node:
        if not wait_for(lambda: name in actions_in_graph(node)):
            raise CliError(f"unknown action '{name}'; 'ros2 action list' lists the actions")
        types = actions_in_graph(node)[name]
    write("".join(f"{type_name}\n" for type_name in types))
    return 0
