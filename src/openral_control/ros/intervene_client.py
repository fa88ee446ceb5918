"""Asks the running bridge for the arm, from a process that does nothing else."""

from __future__ import annotations

import os

import rclpy
from openral.srv import Intervene

from openral_core.graph.namespaces import DEFAULT_NAMESPACE, namespace_option, ros_arguments
from openral_core.ros.service_call import ServiceNotFound, ServiceTimeout, call_service
from openral_core.ros.session_certificates import refused_or


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
        request = Intervene.Request(take=take, who=operator)
        answer = call_service(client, request, find_s=patience_s, answer_s=patience_s, node=node)
        return bool(answer.success), str(answer.message)
    except ServiceNotFound:
        advice = refused_or(f"start one with `openral deploy sim{namespace_option(namespace)}`")
        return False, f"no bridge of {namespace} is in the graph of this ROS_DOMAIN_ID; {advice}"
    except ServiceTimeout:
        return False, f"the bridge did not answer within {patience_s:.0f} s"
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
