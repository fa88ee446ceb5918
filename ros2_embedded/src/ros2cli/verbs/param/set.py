"""ros2 param set."""

from __future__ import annotations

import argparse

from ...errors import CliError
from ...node import cli_node
from ...nodes import add_node_arguments, chosen_node
from ...parameters import parse_value, set_values
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_node_arguments(parser)
    parser.add_argument("parameter_name", help="the parameter")
    parser.add_argument("value", help="its value, read as YAML")


def main(args: argparse.Namespace) -> int:
    """Set a parameter."""
    with cli_node() as node:
        target = chosen_node(node, args)
        result = set_values(node, target, {args.parameter_name: parse_value(args.value)})[0]
    if not result.successful:
        raise CliError(
            f"Setting parameter failed: {result.reason}" if result.reason else "Setting parameter failed"
        )
    write("Set parameter successful\n")
    return 0
