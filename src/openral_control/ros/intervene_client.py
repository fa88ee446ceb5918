"""Client of the bridge's service `intervene`, for a process of its own such as `openral arm pause`."""

from __future__ import annotations

import os

import rclpy
from openral.srv import Intervene

from openral_core.cli.printable import one_line
from openral_core.graph.namespaces import DEFAULT_NAMESPACE, namespace_option, ros_arguments
from openral_core.ros.service_call import ServiceNotFound, ServiceTimeout, call_service
from openral_core.ros.session_certificates import refused_or


def intervene(
    *, take: bool, operator: str, patience_s: float, namespace: str = DEFAULT_NAMESPACE
) -> tuple[bool, str]:
    """Take the arm over without sending chunks, so that it holds, or give it back.

    Args:
        take: take the arm over; else give it back.
        operator: name of the operator.
        patience_s: [s] wall time to find the service, and then to wait for its response.
        namespace: of the deployment.

    Returns:
        Whether the bridge did it, and its message or the reason of the failure.
    """
    rclpy.init(args=ros_arguments(namespace))
    node = rclpy.create_node(f"arm_{os.getpid()}", namespace=DEFAULT_NAMESPACE)
    try:
        client = node.create_client(Intervene, "intervene")
        request = Intervene.Request(take=take, who=operator)
        answer = call_service(client, request, find_s=patience_s, answer_s=patience_s, node=node)
        return bool(answer.success), one_line(answer.message)
    except ServiceNotFound:
        advice = refused_or(f"start one with `openral deploy sim{namespace_option(namespace)}`")
        return False, f"no bridge of {namespace} is in the graph of this ROS_DOMAIN_ID; {advice}"
    except ServiceTimeout:
        return False, f"the bridge did not answer within {patience_s:.0f} s"
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
