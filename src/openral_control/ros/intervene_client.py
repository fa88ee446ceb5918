"""Asks the running bridge for the arm, from a process that does nothing else."""

from __future__ import annotations

import os

import rclpy
from openral.srv import Intervene

from openral_core.graph.names import DEFAULT_NAMESPACE, ros_arguments


def intervene(
    *, take: bool, operator: str, patience_s: float, namespace: str = DEFAULT_NAMESPACE
) -> tuple[bool, str]:
    """Take the arm without steering it, or give it back.

    Args:
        take: take it.
        operator: who, in words.
        patience_s: [s] wall time that the bridge has.
        namespace: of the deployment.

    Returns:
        Whether it was done, and what the bridge says.
    """
    rclpy.init(args=ros_arguments(namespace))
    node = rclpy.create_node(f"arm_{os.getpid()}", namespace=DEFAULT_NAMESPACE)
    try:
        client = node.create_client(Intervene, "intervene")
        if not client.wait_for_service(timeout_sec=patience_s):
            return False, "no bridge is in the graph; is a deployment running on this ROS_DOMAIN_ID?"
        future = client.call_async(Intervene.Request(take=take, who=operator))
        rclpy.spin_until_future_complete(node, future, timeout_sec=patience_s)
        answer = future.result() if future.done() else None
        if answer is None:
            return False, f"the bridge did not answer within {patience_s:.0f} s"
        return bool(answer.success), str(answer.message)
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
