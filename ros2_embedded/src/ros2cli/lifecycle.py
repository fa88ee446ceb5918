"""Lifecycle nodes, through their services."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from .errors import CliError
from .node import is_hidden, wait_for
from .nodes import chosen_node, node_names
from .services import call_once

if TYPE_CHECKING:
    from rclpy.node import Node

_GET_STATE = "lifecycle_msgs/srv/GetState"


def lifecycle_nodes(node: Node, include_hidden: bool = True) -> list[str]:
    """Return the full names of the nodes that have a lifecycle, sorted."""
    services = dict(node.get_service_names_and_types())
    names = [name for name in node_names(node) if include_hidden or not is_hidden(name)]
    return [name for name in names if _GET_STATE in services.get(f"{name}/get_state", ())]


def chosen_lifecycle_node(node: Node, args: argparse.Namespace) -> str:
    """Return the full name of the lifecycle node that the arguments name.

    Raises:
        CliError: it is not there, hidden without `--include-hidden-nodes`, or has no lifecycle.
    """
    target = chosen_node(node, args)
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
