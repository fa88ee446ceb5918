"""Calling a service that answers with `success` and `message`, and waiting for it, beside the executor's thread."""

from __future__ import annotations

import threading
from typing import Any

from rclpy.node import Node

ANSWER_S = 2.0
"""[s] wall time that a service has for its answer."""


class ServiceCall:
    """A client that is made before it is needed, so that the graph knows it when it is."""

    def __init__(self, node: Node, kind: Any, name: str) -> None:
        """Prepare.

        Args:
            node: is spun by an executor in another thread.
            kind: of the service, such as `std_srvs.srv.Trigger`.
            name: of the service, relative to the node's namespace.
        """
        self._kind, self._client = kind, node.create_client(kind, name)

    def __call__(self, **fields: Any) -> str:
        """Call with the fields of a request, and return why it was not done; empty: it was."""
        name = self._client.service_name
        if not self._client.wait_for_service(timeout_sec=ANSWER_S):
            return f"nobody answers on {name}: no bridge is in the graph"
        done = threading.Event()
        future = self._client.call_async(self._kind.Request(**fields))
        future.add_done_callback(lambda _: done.set())
        if not done.wait(ANSWER_S):
            return f"{name} did not answer within {ANSWER_S:.0f} s"
        answer: Any = future.result()
        return "" if answer is not None and answer.success else f"{name}: {getattr(answer, 'message', '')}"
