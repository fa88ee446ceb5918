"""ros2 node info."""

from __future__ import annotations

import argparse
from typing import Any

from ...actions import split_actions
from ...errors import CliError
from ...node import cli_node, full_name, is_hidden, settle, wait_for
from ...nodes import node_names, split_name
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("node_name", help="full name of the node")
    parser.add_argument("--include-hidden", action="store_true", help="hidden nodes, topics and services too")


def main(args: argparse.Namespace) -> int:
    """Print the topics, services and actions of a node."""
    with cli_node() as node:
        full = full_name(args.node_name)
        visible = args.include_hidden or not is_hidden(full)
        if not visible or not wait_for(lambda: full in node_names(node)):
            raise CliError(f"Unable to find node '{full}'")
        settle(node)  # its endpoints come one by one
        name = split_name(full)
        publishers = node.get_publisher_names_and_types_by_node(*name)
        subscriptions = node.get_subscriber_names_and_types_by_node(*name)
        services = node.get_service_names_and_types_by_node(*name)
        clients = node.get_client_names_and_types_by_node(*name)
    sections = {
        "Subscribers": subscriptions,
        "Publishers": publishers,
        "Service Servers": services,
        "Service Clients": clients,
        "Action Servers": split_actions(services),
        "Action Clients": split_actions(clients),
    }
    lines = [full]
    for title, entries in sections.items():
        lines.append(f"  {title}:")
        shown = _shown(entries, args.include_hidden)
        lines += [f"    {entry}: {', '.join(types)}" for entry, types in shown] or [""]
    write("\n".join(lines) + "\n")
    return 0


def _shown(entries: Any, include_hidden: bool) -> list[tuple[str, list[str]]]:
    return [(name, types) for name, types in sorted(entries) if include_hidden or not is_hidden(name)]
