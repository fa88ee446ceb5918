"""Finding nodes."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from .errors import CliError
from .node import DISCOVERY_TIMEOUT_S, full_name, is_hidden, wait_for

if TYPE_CHECKING:
    from rclpy.node import Node


def split_name(name: str) -> tuple[str, str]:
    """Return name and namespace of a node's full name."""
    namespace, _, base = full_name(name).rpartition("/")
    return base, namespace or "/"


def node_names(node: Node) -> list[str]:
    """Return the full names of all nodes in the graph, sorted."""
    pairs = node.get_node_names_and_namespaces()
    return sorted(f"{namespace.rstrip('/')}/{name}" for name, namespace in pairs)


def add_node_arguments(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    """Add the name of a node, `--include-hidden-nodes` and `--timeout`, which `chosen_node` reads.

    Args:
        parser: the parser of a verb.
        optional: whether the name may be left out, for all nodes.
    """
    if optional:
        parser.add_argument("node_name", nargs="?", help="the node; all by default")
    else:
        parser.add_argument("node_name", help="the node")
    parser.add_argument(
        "--include-hidden-nodes", action="store_true", help="also nodes whose name starts with an underscore"
    )
    parser.add_argument(
        "--timeout", type=float, default=DISCOVERY_TIMEOUT_S, metavar="S", help="how long to look for it [s]"
    )


def chosen_node(node: Node, args: argparse.Namespace) -> str:
    """Return the full name of the node that the arguments name, as soon as it is in the graph.

    Raises:
        CliError: it does not appear, or it is hidden and `--include-hidden-nodes` is not given.
    """
    wanted = full_name(args.node_name)
    visible = args.include_hidden_nodes or not is_hidden(wanted)
    if not visible or not wait_for(lambda: wanted in node_names(node), args.timeout):
        raise CliError("Node not found")
    return wanted
