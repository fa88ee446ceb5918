"""ros2 action info."""

from __future__ import annotations

import argparse

from ...actions import actions_in_graph, nodes_with_actions
from ...node import cli_node, full_name, settle
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("action_name", help="name of the action")
    parser.add_argument("-t", "--show-types", action="store_true", help="show the types")
    parser.add_argument(
        "-c", "--count", action="store_true", help="show only how many clients and servers there are"
    )


def main(args: argparse.Namespace) -> int:
    """Print the clients and servers of an action."""
    action = full_name(args.action_name)
    with cli_node() as node:
        settle(node)
        types = actions_in_graph(node).get(action)
        clients = _users(nodes_with_actions(node, clients=True), action)
        servers = _users(nodes_with_actions(node, clients=False), action)
    suffix = f" [{', '.join(types or ())}]" if args.show_types else ""
    lines = [f"Action: {action}"]
    for title, users in (("clients", clients), ("servers", servers)):
        lines.append(f"Action {title}: {len(users)}")
        if not args.count:
            lines += [f"    {user}{suffix}" for user in users]
    write("\n".join(lines) + "\n")
    return 0


def _users(by_node: dict[str, list[tuple[str, list[str]]]], action: str) -> list[str]:
    return sorted(name for name, actions in by_node.items() if action in dict(actions))
