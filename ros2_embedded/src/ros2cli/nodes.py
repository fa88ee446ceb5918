"""Finding nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import CliError
from .node import full_name, wait_for

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


def require_node(node: Node, name: str) -> str:
    """Return the full name of a node as soon as it is in the graph; raise CliError when it does not
    appear."""
    wanted = full_name(name)
    if not wait_for(lambda: wanted in node_names(node)):
        raise CliError(f"Unable to find node '{wanted}'")
    return wanted
