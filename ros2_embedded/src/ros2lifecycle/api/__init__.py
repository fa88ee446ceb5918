"""Lifecycle nodes, as programs ask for them through the command line's functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lifecycle_msgs.srv import ChangeState, GetAvailableTransitions, GetState

import rclpy
from ros2cli.node.direct import DirectNode
from ros2node.api import NodeName
from ros2node.api import get_node_names as _all_node_names

_GET_STATE = "lifecycle_msgs/srv/GetState"
_TIMEOUT_S = 5.0


def get_node_names(*, node: Any, include_hidden_nodes: bool = False) -> list[NodeName]:
    """Return the nodes that have a lifecycle."""
    services = dict(node.get_service_names_and_types())
    found = _all_node_names(node=node, include_hidden_nodes=include_hidden_nodes)
    return [name for name in found if _GET_STATE in services.get(f"{name.full_name}/get_state", ())]


def _ask(
    node: Any, kind: Any, service: str, node_names: Any, request_of: Callable[[str], Any]
) -> dict[str, Any]:
    """Call one service of each node; the value is the answer, or the exception that came in its place."""
    real = node.node if isinstance(node, DirectNode) else node
    answers: dict[str, Any] = {}
    for name in node_names:
        client = real.create_client(kind, f"{name}/{service}")
        try:
            if not client.wait_for_service(timeout_sec=_TIMEOUT_S):
                answers[name] = RuntimeError(f"service '{name}/{service}' is not available")
                continue
            future = client.call_async(request_of(name))
            rclpy.spin_until_future_complete(real, future)
            answers[name] = future.exception() or future.result()
        finally:
            real.destroy_client(client)
    return answers


def _transitions(node: Any, service: str, node_names: Any) -> dict[str, Any]:
    kind = GetAvailableTransitions
    answers = _ask(node, kind, service, node_names, lambda _: kind.Request())
    return {name: getattr(answer, "available_transitions", answer) for name, answer in answers.items()}


def call_get_states(*, node: Any, node_names: list[str]) -> dict[str, Any]:
    """Return the `lifecycle_msgs/msg/State` of each node, or the exception that asking it raised."""
    answers = _ask(node, GetState, "get_state", node_names, lambda _: GetState.Request())
    return {name: getattr(answer, "current_state", answer) for name, answer in answers.items()}


def call_get_available_transitions(*, node: Any, states: dict[str, Any]) -> dict[str, Any]:
    """Return the transitions of each node (the keys of `states`) that are possible now, or an exception."""
    return _transitions(node, "get_available_transitions", states)


def call_get_transition_graph(*, node: Any, states: dict[str, Any]) -> dict[str, Any]:
    """Return all transitions of each node (the keys of `states`), or an exception."""
    return _transitions(node, "get_transition_graph", states)


def call_change_states(*, node: Any, transitions: dict[str, Any]) -> dict[str, Any]:
    """Ask each node for its `lifecycle_msgs/msg/Transition`; return whether it did it, or an exception."""
    answers = _ask(
        node,
        ChangeState,
        "change_state",
        transitions,
        lambda name: ChangeState.Request(transition=transitions[name]),
    )
    return {name: getattr(answer, "success", answer) for name, answer in answers.items()}
