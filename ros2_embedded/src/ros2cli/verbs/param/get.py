"""ros2 param get."""

from __future__ import annotations

import argparse

from ...errors import CliError
from ...node import cli_node
from ...nodes import add_node_arguments, chosen_node
from ...parameters import get_values, plain_value, type_name
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_node_arguments(parser)
    parser.add_argument("parameter_name", help="the parameter")
    parser.add_argument("--hide-type", action="store_true", help="print the value only")


def main(args: argparse.Namespace) -> int:
    """Print the value of a parameter."""
    with cli_node() as node:
        target = chosen_node(node, args)
        values = get_values(node, target, [args.parameter_name])
    if not values or values[0].type == 0:
        raise CliError("Parameter not set")
    value = plain_value(values[0])
    if args.hide_type:
        write(f"{value}\n")
        return 0
    name = type_name(values[0].type)
    phrase = f"{name.capitalize()} values are" if name.endswith("array") else f"{name.capitalize()} value is"
    write(f"{phrase.replace(' array', '')}: {value}\n")
    return 0
