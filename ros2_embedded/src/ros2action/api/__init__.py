"""Actions, as programs ask for them through the command line's functions."""

from __future__ import annotations

from typing import Any

from rclpy.action import (
    get_action_client_names_and_types_by_node,
    get_action_server_names_and_types_by_node,
)
from rclpy.action import (
    get_action_names_and_types as _of_graph,
)
from rclpy.expand_topic_name import expand_topic_name
from rclpy.validate_full_topic_name import validate_full_topic_name
from ros2cli.node.direct import DirectNode
from ros2cli.node.strategy import NodeStrategy
from ros2node.api import get_node_names
from rosidl_runtime_py import get_action_interfaces, message_to_yaml
from rosidl_runtime_py.utilities import get_action

NodeTypes = list[tuple[str, list[str]]]


def _real(node: Any) -> Any:
    return node.node if isinstance(node, (DirectNode, NodeStrategy)) else node


def get_action_clients_and_servers(*, node: Any, action_name: str) -> tuple[NodeTypes, NodeTypes]:
    """Return the nodes that are clients of an action, and those that serve it, each with its types.

    Raises:
        InvalidTopicNameException, ValueError: the name is not valid.
    """
    node = _real(node)
    full = expand_topic_name(action_name, node.get_name(), node.get_namespace())
    validate_full_topic_name(full)
    clients: NodeTypes = []
    servers: NodeTypes = []
    for name in get_node_names(node=node, include_hidden_nodes=True):
        for found, ask in (
            (clients, get_action_client_names_and_types_by_node),
            (servers, get_action_server_names_and_types_by_node),
        ):
            found += [
                (name.full_name, types)
                for action, types in ask(node, name.name, name.namespace)
                if action == full
            ]
    return clients, servers


def get_action_names(*, node: Any) -> list[str]:
    """Return the actions of the graph."""
    return [name for name, _ in get_action_names_and_types(node=node)]


def get_action_names_and_types(*, node: Any) -> NodeTypes:
    """Return the actions of the graph and their types."""
    found: NodeTypes = _of_graph(_real(node))
    return found


def get_action_class(node: Any, action_name: str) -> Any:
    """Return the class of an action, None when nobody has it.

    Raises:
        RuntimeError: it has several types, or its type cannot be found.
    """
    types = dict(get_action_names_and_types(node=node)).get(action_name)
    if not types:
        return None
    if len(types) > 1:
        raise RuntimeError(
            f"Cannot determine the type of action '{action_name}', as it has several: [{', '.join(types)}]"
        )
    try:
        return get_action(types[0])
    except (AttributeError, ModuleNotFoundError, ValueError) as error:
        raise RuntimeError(f"The action type '{types[0]}' is invalid") from error


def action_name_completer(prefix: str, parsed_args: Any, **_: Any) -> list[str]:
    """Return the actions of the graph."""
    with NodeStrategy(parsed_args) as node:
        return get_action_names(node=node)


def action_type_completer(**_: Any) -> list[str]:
    """Return all action types."""
    found = get_action_interfaces()
    return [f"{package}/{name}" for package, names in sorted(found.items()) for name in names]


class ActionTypeCompleter:
    """Completes action types on a command line."""

    def __init__(self, *, action_name_key: str | None = None) -> None:
        """Name the argument that holds the action."""
        self.action_name_key = action_name_key

    def __call__(self, prefix: str, parsed_args: Any, **_: Any) -> list[str]:
        """Return the types of the action if there is one, else all."""
        action = getattr(parsed_args, self.action_name_key, None) if self.action_name_key else None
        if action:
            with NodeStrategy(parsed_args) as node:
                types = dict(get_action_names_and_types(node=node)).get(action)
            if types:
                return types
        return action_type_completer()


class ActionGoalPrototypeCompleter:
    """Completes a goal on a command line with its default values."""

    def __init__(self, *, action_type_key: str | None = None) -> None:
        """Name the argument that holds the type."""
        self.action_type_key = action_type_key

    def __call__(self, prefix: str, parsed_args: Any, **_: Any) -> list[str]:
        """Return the goal as YAML."""
        action = get_action(getattr(parsed_args, self.action_type_key or ""))
        return [message_to_yaml(action.Goal())]
