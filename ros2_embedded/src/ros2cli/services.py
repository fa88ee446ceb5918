"""Calling services from verbs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import CliError
from .node import DISCOVERY_TIMEOUT_S

if TYPE_CHECKING:
    from rclpy.node import Node


def call(node: Node, client: Any, request: Any, timeout_s: float | None = DISCOVERY_TIMEOUT_S) -> Any:
    """Wait for a service, call it, and return its answer.

    Args:
        node: the verb's node.
        client: a client of that node.
        request: the request.
        timeout_s: how long to wait for the service, and then for the answer [s]; None for ever.

    Raises:
        CliError: when the service does not appear or does not answer in time.
    """
    import rclpy

    if not client.wait_for_service(timeout_sec=timeout_s):
        raise CliError(f"service '{client.srv_name}' is not available; does its node run?")
    future = client.call_async(request)
    rclpy.spin_until_future_complete(node, future, timeout_sec=timeout_s)
    if not future.done():
        raise CliError(f"service '{client.srv_name}' did not answer within {timeout_s:g} s")
    return future.result()


def call_once(node: Node, service_type: Any, name: str, request: Any) -> Any:
    """Call the service `name` and return its answer; raise CliError when it is not there."""
    client = node.create_client(service_type, name)
    try:
        return call(node, client, request)
    finally:
        node.destroy_client(client)
