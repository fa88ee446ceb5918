"""A blocking call of a service."""

from __future__ import annotations

import threading
from typing import Any

import rclpy
from rclpy.node import Node


class ServiceNotFound(Exception):
    """No node offers the service."""


class ServiceTimeout(Exception):
    """The service did not respond in time."""


def call_service(
    client: Any, request: Any, *, find_s: float, answer_s: float, node: Node | None = None
) -> Any:
    """Call a service and return its response.

    A call that is given up is taken off the client's pending requests, so that an answer that comes later is dropped.

    Args:
        client: of the service.
        request: an instance of the service's request.
        find_s: [s] wall time until a server must be in the graph.
        answer_s: [s] wall time that the server has for its answer.
        node: the client's node, which is spun here; None: an executor spins it in another thread.

    Raises:
        ServiceNotFound: there is no server.
        ServiceTimeout: there is one, and it does not answer.
    """
    if not client.wait_for_service(timeout_sec=find_s):
        raise ServiceNotFound(client.service_name)
    future = client.call_async(request)
    try:
        if node is None:
            done = threading.Event()
            future.add_done_callback(lambda _: done.set())
            done.wait(answer_s)
        else:
            rclpy.spin_until_future_complete(node, future, timeout_sec=answer_s)
        if not future.done():
            raise ServiceTimeout(f"{client.service_name} did not answer within {answer_s:g} s")
        return future.result()
    finally:
        client.remove_pending_request(future)
