"""The daemon of ROS 2 as programs see it: a node of the process itself, which answers with lists.

The graph arrives within milliseconds, so no process has to keep it; starting the daemon makes a node in this
process, and `ros2 daemon status` of another process does not see it.
"""

from __future__ import annotations

import atexit
import functools
import os
from typing import Any

from ..helpers import get_ros_domain_id
from . import settle
from .direct import DirectNode

_nodes: dict[int, DirectNode | None] = {}
"""The domains whose daemon runs, each with the node that answers, which is made for the first question."""

_ACTION_METHODS = (
    "get_action_client_names_and_types_by_node",
    "get_action_names_and_types",
    "get_action_server_names_and_types_by_node",
)
METHODS = (
    *_ACTION_METHODS,
    "count_clients",
    "count_publishers",
    "count_services",
    "count_subscribers",
    "get_client_names_and_types_by_node",
    "get_name",
    "get_namespace",
    "get_node_names_and_namespaces",
    "get_node_names_and_namespaces_with_enclaves",
    "get_publisher_names_and_types_by_node",
    "get_publishers_info_by_topic",
    "get_service_names_and_types",
    "get_service_names_and_types_by_node",
    "get_subscriber_names_and_types_by_node",
    "get_subscriptions_info_by_topic",
    "get_topic_names_and_types",
)
"""The questions that the daemon answers."""


class _System:
    """What a program can ask of the daemon itself."""

    def shutdown(self) -> None:
        """End the daemon of this process."""
        shutdown_daemon()


class DaemonNode:
    """The questions that a `DirectNode` answers, asked through the daemon of this process.

    Tuples come back as lists, as from the remote calls of ROS 2. Before the first answer the graph has been
    quiet for a moment, so that nothing is missing from it. Used in a `with` statement.

    Args:
        args: parsed arguments, as those of `DirectNode`.
    """

    def __init__(self, args: Any) -> None:
        """Keep the arguments; the node is made when it is first asked something."""
        self._args = args
        self._settled = False
        self.system = _System()

    @property
    def connected(self) -> bool:
        """Whether the daemon runs."""
        return is_daemon_running()

    @property
    def methods(self) -> list[str]:
        """The names of the questions that are answered."""
        return list(METHODS)

    def __enter__(self) -> DaemonNode:
        """Use it."""
        return self

    def __getattr__(self, name: str) -> Any:
        """Return a method of the node whose answer holds lists."""
        if name not in METHODS:
            raise AttributeError(f"the daemon does not answer '{name}'")
        from rclpy.action import graph

        direct = _answering_node(self._args)
        if not self._settled:
            settle(direct.node)
            self._settled = True
        method = (
            functools.partial(getattr(graph, name), direct.node)
            if name in _ACTION_METHODS
            else getattr(direct, name)
        )
        return lambda *args, **kwargs: _with_lists(method(*args, **kwargs))

    def __exit__(self, *_: object) -> None:
        """Leave the daemon as it is."""


def _answering_node(args: Any) -> DirectNode:
    domain = get_ros_domain_id()
    if domain not in _nodes:
        raise ConnectionRefusedError("the daemon does not run: call spawn_daemon first")
    node = _nodes[domain]
    if node is None:
        name = f"_ros2cli_daemon_{domain}_{os.getpid():x}"
        node = _nodes[domain] = DirectNode(args, node_name=name, own_context=True)
        atexit.register(node.__exit__)
    return node


def _with_lists(value: Any) -> Any:
    """Return lists of lists for tuples and lists of them; other values as they are."""
    return [_with_lists(item) for item in value] if isinstance(value, (list, tuple)) else value


def is_daemon_running(args: Any = None) -> bool:
    """Return whether this process started the daemon of its domain."""
    return get_ros_domain_id() in _nodes


def spawn_daemon(args: Any = None, timeout: float | None = None, debug: bool = False, **_: object) -> bool:
    """Start the daemon of this process and return True."""
    _nodes.setdefault(get_ros_domain_id(), None)
    return True


def shutdown_daemon(args: Any = None, timeout: float | None = None) -> bool:
    """End the daemon of this process and return True."""
    node = _nodes.pop(get_ros_domain_id(), None)
    if node is not None:
        atexit.unregister(node.__exit__)
        node.__exit__()
    return True


def add_arguments(parser: Any) -> None:
    """Add nothing."""
