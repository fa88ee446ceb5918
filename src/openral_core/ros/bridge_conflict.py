"""Detection of several bridges in one namespace, which would all move the same arm."""

from __future__ import annotations

import time

import rclpy
from rclpy.context import Context
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

BRIDGES = ("robot_bridge", "sim_bridge")
"""Names of the nodes that move an arm."""
DISCOVERY_S, ZENOH_DISCOVERY_S = 2.0, 1.0
"""[s] until a node knows the others, over DDS and over Zenoh. Over Zenoh it took 0.1 s at most beside eight busy
processes on two cores, and in three tries of ten a node that had just been made did not know them yet."""
ANOTHER = (
    "another bridge runs on this ROS_DOMAIN_ID in the same namespace; stop it, or set another "
    "ROS_DOMAIN_ID or namespace. One that was killed is seen on DDS for 20 s more"
)
"""Reason for which a bridge is refused."""


def has_more_bridges(node: Node, namespace: str, most: int) -> bool:
    """Return whether a node sees more than `most` bridges in a namespace; False only after the time of discovery."""
    over_zenoh = "zenoh" in rclpy.get_rmw_implementation_identifier()
    known_s = time.monotonic() + (ZENOH_DISCOVERY_S if over_zenoh else DISCOVERY_S)
    while not (more := _count(node, namespace) > most) and time.monotonic() < known_s:
        time.sleep(0.05)
    return more


def is_taken(namespace: str) -> bool:
    """Tell whether a bridge moves an arm in a namespace already, from a process that has no node of its own.

    False where this process may not join the graph, such as one without keys where the graph demands them.
    """
    context = Context()
    try:
        rclpy.init(context=context, signal_handler_options=SignalHandlerOptions.NO)
    except RuntimeError:
        return False
    try:
        node = Node("bridge_check", namespace=namespace, context=context, enable_rosout=False)
        try:
            return has_more_bridges(node, namespace, 0)
        finally:
            node.destroy_node()
    finally:
        rclpy.shutdown(context=context)


def _count(node: Node, namespace: str) -> int:
    nodes = node.get_node_names_and_namespaces()
    return sum(nodes.count((name, namespace)) for name in BRIDGES)
