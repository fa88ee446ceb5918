"""ros2 param load."""

from __future__ import annotations

import argparse

from ...errors import CliError
from ...node import cli_node
from ...nodes import add_node_arguments, chosen_node
from ...parameters import load_file, set_values
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_node_arguments(parser)
    parser.add_argument("parameter_file", help="the YAML file")
    parser.add_argument("--no-use-wildcard", action="store_true", help="leave out the section '/**'")


def main(args: argparse.Namespace) -> int:
    """Set the parameters of a node from a file."""
    with cli_node() as node:
        target = chosen_node(node, args)
        values = load_file(args.parameter_file, target, not args.no_use_wildcard)
        results = set_values(node, target, values)
    failed = []
    for name, result in zip(values, results, strict=True):
        reason = "" if result.successful else f": {result.reason}"
        write(f"Set parameter {name} {'successful' if result.successful else 'failed'}{reason}\n")
        if not result.successful:
            failed.append(name)
    if failed:
        raise CliError(f"{len(failed)} of {len(values)} parameters could not be set: {', '.join(failed)}")
    return 0
