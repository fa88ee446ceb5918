"""Nodes, as programs ask for them through the command line's functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from rclpy.action import (
    get_action_client_names_and_types_by_node,
    get_action_server_names_and_types_by_node,
)
from rclpy.node import HIDDEN_NODE_PREFIX
from ros2cli.helpers import wait_for
from ros2cli.node.direct import DirectNode
from ros2cli.node.strategy import NodeStrategy

INFO_NONUNIQUE_WARNING_TEMPLATE = (
    'There are {num_nodes} nodes in the graph with the exact name "{node_name}". '
    "You are seeing information about only one of them."
)


class NodeName(NamedTuple):
    """The name of a node, its namespace, and both in one."""

    name: str
    namespace: str
    full_name: str


class TopicInfo(NamedTuple):
    """A topic, service or action, and its types."""

    name: str
    types: list[str]


def _is_hidden_name(name: str) -> bool:
    return any(part.startswith(HIDDEN_NODE_PREFIX) for part in name.split("/"))


def get_absolute_node_name(node_name: str | None) -> str | None:
    """Return the name with its leading slash, None for none."""
    if not node_name:
        return None
    return node_name if node_name.startswith("/") else f"/{node_name}"


def parse_node_name(node_name: str) -> NodeName:
    """Return the parts of a node's name."""
    full = node_name if node_name.startswith("/") else f"/{node_name}"
    namespace, _, name = full.rpartition("/")
    return NodeName(name, namespace or "/", full)


def has_duplicates(values: list[Any]) -> bool:
    """Return whether something is listed twice."""
    return len(set(values)) < len(values)


def get_node_names(*, node: Any, include_hidden_nodes: bool = False) -> list[NodeName]:
    """Return the nodes of the graph; hidden ones, which start with an underscore, only if asked for."""
    return [
        NodeName(name, namespace, f"{namespace.rstrip('/')}/{name}")
        for name, namespace in node.get_node_names_and_namespaces()
        if include_hidden_nodes or (name and not name.startswith(HIDDEN_NODE_PREFIX))
    ]


def wait_for_node(
    node: Any, node_name: str, include_hidden_nodes: bool = False, timeout: float = 1.0
) -> bool:
    """Return whether a node of this full name appears within `timeout` seconds."""

    def is_there() -> bool:
        found = get_node_names(node=node, include_hidden_nodes=include_hidden_nodes)
        return any(name.full_name == node_name for name in found)

    return wait_for(is_there, timeout)


def get_topics(
    remote_node_name: str,
    func: Callable[[str, str], list[tuple[str, list[str]]]],
    *,
    include_hidden_topics: bool = False,
) -> list[TopicInfo]:
    """Return what a question about a node gives: `func` takes its name and its namespace."""
    remote = parse_node_name(remote_node_name)
    return [
        TopicInfo(name, types)
        for name, types in func(remote.name, remote.namespace)
        if include_hidden_topics or not _is_hidden_name(name)
    ]


def get_subscriber_info(*, node: Any, remote_node_name: str, include_hidden: bool = False) -> list[TopicInfo]:
    """Return the topics that a node subscribes to."""
    ask = node.get_subscriber_names_and_types_by_node
    return get_topics(remote_node_name, ask, include_hidden_topics=include_hidden)


def get_publisher_info(*, node: Any, remote_node_name: str, include_hidden: bool = False) -> list[TopicInfo]:
    """Return the topics that a node publishes."""
    ask = node.get_publisher_names_and_types_by_node
    return get_topics(remote_node_name, ask, include_hidden_topics=include_hidden)


def get_service_client_info(
    *, node: Any, remote_node_name: str, include_hidden: bool = False
) -> list[TopicInfo]:
    """Return the services that a node is a client of."""
    ask = node.get_client_names_and_types_by_node
    return get_topics(remote_node_name, ask, include_hidden_topics=include_hidden)


def get_service_server_info(
    *, node: Any, remote_node_name: str, include_hidden: bool = False
) -> list[TopicInfo]:
    """Return the services of a node."""
    ask = node.get_service_names_and_types_by_node
    return get_topics(remote_node_name, ask, include_hidden_topics=include_hidden)


def get_action_server_info(
    *, node: Any, remote_node_name: str, include_hidden: bool = False
) -> list[TopicInfo]:
    """Return the actions that a node serves."""

    def ask(name: str, namespace: str) -> Any:
        return get_action_server_names_and_types_by_node(_real(node), name, namespace)

    return get_topics(remote_node_name, ask, include_hidden_topics=include_hidden)


def get_action_client_info(
    *, node: Any, remote_node_name: str, include_hidden: bool = False
) -> list[TopicInfo]:
    """Return the actions that a node is a client of."""

    def ask(name: str, namespace: str) -> Any:
        return get_action_client_names_and_types_by_node(_real(node), name, namespace)

    return get_topics(remote_node_name, ask, include_hidden_topics=include_hidden)


def _real(node: Any) -> Any:
    """The node itself, of a node or a `NodeStrategy`."""
    return node.node if isinstance(node, (DirectNode, NodeStrategy)) else node


class NodeNameCompleter:
    """Completes node names on a command line."""

    def __init__(self, *, include_hidden_nodes_key: str | None = None) -> None:
        """Name the argument that asks for hidden nodes."""
        self.include_hidden_nodes_key = include_hidden_nodes_key

    def __call__(self, prefix: str, parsed_args: Any, **_: Any) -> list[str]:
        """Return the full names of the nodes of the graph."""
        hidden = bool(getattr(parsed_args, self.include_hidden_nodes_key or "", False))
        with NodeStrategy(parsed_args) as node:
            return [name.full_name for name in get_node_names(node=node, include_hidden_nodes=hidden)]
