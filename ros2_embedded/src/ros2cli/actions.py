"""Finding actions: an action is known by its `send_goal` service."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rclpy.node import Node

_SERVICE = "/_action/send_goal"
_TYPE_SUFFIX = "_SendGoal"


def split_actions(services: Iterable[tuple[str, list[str]]]) -> list[tuple[str, list[str]]]:
    """Return names and types of the actions whose services are among those given."""
    return [
        (name.removesuffix(_SERVICE), [type_name.removesuffix(_TYPE_SUFFIX) for type_name in types])
        for name, types in services
        if name.endswith(_SERVICE)
    ]


def actions_in_graph(node: Node) -> dict[str, list[str]]:
    """Return the types of each action that has a server or a client, by name."""
    found: dict[str, list[str]] = dict(split_actions(node.get_service_names_and_types()))
    for by_node in nodes_with_actions(node, clients=True).values():
        for name, types in by_node:
            found.setdefault(name, types)
    return found


def nodes_with_actions(node: Node, *, clients: bool) -> dict[str, list[tuple[str, list[str]]]]:
    """Return for each node the actions it serves, or of which it is a client."""
    look_up = node.get_client_names_and_types_by_node if clients else node.get_service_names_and_types_by_node
    found = {}
    for name, namespace in set(node.get_node_names_and_namespaces()):
        actions = split_actions(look_up(name, namespace))
        if actions:
            found[f"{namespace.rstrip('/')}/{name}"] = actions
    return found
