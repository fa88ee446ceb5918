"""ros2 param describe."""

from __future__ import annotations

import argparse
from typing import Any

from ...errors import CliError
from ...node import cli_node
from ...nodes import add_node_arguments, chosen_node
from ...parameters import get_descriptors, type_name
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_node_arguments(parser)
    parser.add_argument("parameter_names", nargs="+", help="the parameters")


def main(args: argparse.Namespace) -> int:
    """Print what a node says about its parameters."""
    with cli_node() as node:
        target = chosen_node(node, args)
        descriptors = get_descriptors(node, target, args.parameter_names)
    if not descriptors or not all(descriptor.name for descriptor in descriptors):
        raise CliError(f"node '{target}' does not know all of: {', '.join(args.parameter_names)}")
    for descriptor in descriptors:
        write("\n".join(_lines(descriptor)) + "\n")
    return 0


def _lines(descriptor: Any) -> list[str]:
    lines = [f"Parameter name: {descriptor.name}", f"  Type: {type_name(descriptor.type)}"]
    if descriptor.description:
        lines.append(f"  Description: {descriptor.description}")
    lines.append("  Constraints:")
    if descriptor.read_only:
        lines.append("    Read only: true")
    for ranges in (descriptor.integer_range, descriptor.floating_point_range):
        for limit in ranges:
            lines += [
                f"    Min value: {limit.from_value}",
                f"    Max value: {limit.to_value}",
                f"    Step: {limit.step}",
            ]
    if descriptor.additional_constraints:
        lines.append(f"    Additional constraints: {descriptor.additional_constraints}")
    return lines
