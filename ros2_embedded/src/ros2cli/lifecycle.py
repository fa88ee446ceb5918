"""Lifecycle nodes, through their services."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .node import wait_for
from .nodes import node_names, require_node
from .services import call_once

if TYPE_CHECKING:
    from rclpy.node import Node

_GET_STATE = "lifecycle_msgs/srv/GetState"


def lifecycle_nodes(node: Node) -> list[str]:
    """Return the full names of the nodes that have a lifecycle, sorted."""
    services = dict(node.get_service_names_and_types())
    return [name for name in node_names(node) if _GET_STATE in services.get(f"{name}/get_state", ())]


def require_lifecycle_node(node: Node, name: str) -> str:
    """Return the full name of a lifecycle node; raise CliError when it is not there or has no lifecycle."""
    from .errors import CliError

    target = require_node(node, name)
    if not wait_for(lambda: target in lifecycle_nodes(node)):
        raise CliError(f"node '{target}' has no lifecycle; 'ros2 lifecycle nodes' lists those that have")
    return target


def get_state(node: Node, target: str) -> Any:
    """Return the `lifecycle_msgs/msg/State` a node is in."""
    from lifecycle_msgs.srv import GetState

    return call_once(node, GetState, f"{target}/get_state", GetState.Request()).current_state


def get_transitions(node: Node, target: str, *, every: bool = False) -> list[Any]:
    """Return the `lifecycle_msgs/msg/TransitionDescription`s possible now, or all there are."""
    from lifecycle_msgs.srv import GetAvailableTransitions

    name = "get_transition_graph" if every else "get_available_transitions"
    request = GetAvailableTransitions.Request()
    return list(call_once(node, GetAvailableTransitions, f"{target}/{name}", request).available_transitions)
