"""ros2 param delete."""

from __future__ import annotations

import argparse

from ...errors import CliError
from ...node import cli_node
from ...nodes import add_node_arguments, chosen_node
from ...parameters import get_values
from ...services import call_once
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_node_arguments(parser)
    parser.add_argument("parameter_name", help="the parameter")


def main(args: argparse.Namespace) -> int:
    """Delete a parameter, if the node allows that."""
    with cli_node() as node:
        target = chosen_node(node, args)
        values = get_values(node, target, [args.parameter_name])
        if not values or values[0].type == 0:
            raise CliError(f"node '{target}' has no parameter '{args.parameter_name}'")
        from rcl_interfaces.msg import Parameter
        from rcl_interfaces.srv import SetParameters

        request = SetParameters.Request()
        request.parameters = [Parameter(name=args.parameter_name)]  # a value of type 'not set' deletes
        result = call_once(node, SetParameters, f"{target}/set_parameters", request).results[0]
    if not result.successful:
        raise CliError(f"Deleting parameter failed: {result.reason or 'no reason given'}")
    write("Deleted parameter successfully\n")
    return 0
