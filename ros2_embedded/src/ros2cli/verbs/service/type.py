"""ros2 service type."""

from __future__ import annotations

import argparse

from ...node import cli_node, full_name, wait_for
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("service", help="name of the service")


def main(args: argparse.Namespace) -> int:
    """Print the type of a service; the exit code is 1 when nobody has it."""
    name = full_name(args.service)
    with cli_node() as node:
        if not wait_for(lambda: name in dict(node.get_service_names_and_types())):
            return 1
        types = dict(node.get_service_names_and_types())[name]
    write("".join(f"{type_name}\n" for type_name in types))
    return 0
