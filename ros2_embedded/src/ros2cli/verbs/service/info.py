"""ros2 service info."""

from __future__ import annotations

import argparse

from ...errors import CliError
from ...node import cli_node, full_name, settle
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("service", help="name of the service")


def main(args: argparse.Namespace) -> int:
    """Print the type of a service and how many clients and servers it has."""
    name = full_name(args.service)
    with cli_node() as node:
        settle(node)
        types = dict(node.get_service_names_and_types()).get(name)
        clients, servers = node.count_clients(name), node.count_services(name)
    if not types:
        raise CliError(f"Unknown service '{name}'")
    shown = types[0] if len(types) == 1 else types
    write(f"Type: {shown}\nClients count: {clients}\nServices count: {servers}\n")
    return 0
