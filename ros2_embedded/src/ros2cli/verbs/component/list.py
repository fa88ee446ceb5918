"""ros2 component list."""

from __future__ import annotations

import argparse

from ...components import containers, listed
from ...errors import CliError
from ...node import cli_node, full_name, settle
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("container_node_name", nargs="?", help="only this container")
    parser.add_argument("--containers-only", action="store_true", help="without their components")


def main(args: argparse.Namespace) -> int:
    """Print the containers that run, and what is loaded into them."""
    with cli_node() as node:
        settle(node)
        names = containers(node)
        if args.container_node_name is not None:
            wanted = full_name(args.container_node_name)
            if wanted not in names:
                raise CliError(f"no container '{wanted}'; there are: {', '.join(names) or 'none'}")
            for number, component in listed(node, wanted):
                write(f"{number}  {component}\n")
            return 0
        for name in names:
            write(f"{name}\n")
            for number, component in () if args.containers_only else listed(node, name):
                write(f"  {number}  {component}\n")
    return 0
