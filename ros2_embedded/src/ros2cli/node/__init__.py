"""The node behind a verb."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rclpy.node import Node

NODE_NAME_PREFIX = "_ros2cli"
"""How the names of the command line's own nodes begin."""

_POLL_S = 0.02
_QUIET_S = 0.3
_SETTLE_LIMIT_S = 2.0

DISCOVERY_TIMEOUT_S = 3.0
"""How long a verb looks for what it was asked for before it says that it is not there."""


@contextmanager
def cli_node(name: str | None = None) -> Iterator[Node]:
    """Yield a node, hidden unless it is given a name, and take it out of the graph afterwards.

    It has no parameter services and does not log to /rosout, so that it leaves hardly a trace in the graph.
    """
    import rclpy
    from rclpy.signals import SignalHandlerOptions

    # Signals stay Python's: Ctrl-C is a KeyboardInterrupt, which ends every verb in the same way.
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node(
        name or f"{NODE_NAME_PREFIX}_{os.getpid()}", start_parameter_services=False, enable_rosout=False
    )
    try:
        yield node
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


def settle(node: Node) -> None:
    """Wait until the graph has been quiet for a moment, so that a listing is complete."""
    end = time.monotonic() + _SETTLE_LIMIT_S
    quiet_since = time.monotonic()
    before: object = None
    while time.monotonic() < min(end, quiet_since + _QUIET_S):
        now = (node.get_node_names_and_namespaces(), node.get_topic_names_and_types())
        if now != before:
            before, quiet_since = now, time.monotonic()
        time.sleep(_POLL_S)


def wait_for(found: Callable[[], bool], timeout_s: float = DISCOVERY_TIMEOUT_S) -> bool:
    """Return whether `found` becomes true within `timeout_s` seconds [s]."""
    end = time.monotonic() + timeout_s
    while not found():
        if time.monotonic() > end:
            return False
        time.sleep(_POLL_S)
    return True


def full_name(name: str) -> str:
    """Return a topic, service or node name with its leading slash."""
    return name if name.startswith("/") else f"/{name}"


def is_hidden(name: str) -> bool:
    """Return whether a part of the name starts with an underscore, as internal names do."""
    return any(part.startswith("_") for part in name.split("/"))
