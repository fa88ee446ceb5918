"""Calling services from verbs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import CliError
from .node import DISCOVERY_TIMEOUT_S
from .other_types import type_name, wait_for_server

if TYPE_CHECKING:
    from rclpy.node import Node


def await_server(node: Node, client: Any, timeout_s: float | None = DISCOVERY_TIMEOUT_S) -> None:
    """Wait for the service of a client.

    Args:
        node: the verb's node.
        client: a client of that node.
        timeout_s: how long to wait [s]; None for ever.

    Raises:
        CliError: when the service does not appear, or is of another type.
    """
    wanted = type_name("srv", client.srv_type)
    if not wait_for_server(
        client.srv_name, wanted, client.wait_for_service, timeout_s, node.get_service_names_and_types
    ):
        raise CliError(f"service '{client.srv_name}' is not available; does its node run?")


def call(node: Node, client: Any, request: Any, timeout_s: float | None = DISCOVERY_TIMEOUT_S) -> Any:
    """Wait for a service, call it, and return its answer.

    Args:
        node: the verb's node.
        client: a client of that node.
        request: the request.
        timeout_s: how long to wait for the service, and then for the answer [s]; None for ever.

    Raises:
        CliError: when the service does not appear, is of another type, or does not answer in time.
    """
    import rclpy

    await_server(node, client, timeout_s)
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
