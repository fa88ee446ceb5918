"""Calling a `std_srvs/srv/Trigger` and waiting for its answer, from any thread beside the executor's."""

from __future__ import annotations

import threading
from typing import Any

from rclpy.node import Node
from std_srvs.srv import Trigger

ANSWER_S = 2.0
"""[s] wall time that a service has for its answer."""


class TriggerCall:
    """A client that is made before it is needed, so that the graph knows it when it is."""

    def __init__(self, node: Node, name: str) -> None:
        """Prepare.

        Args:
            node: is spun by an executor in another thread.
            name: of the service, relative to the node's namespace.
        """
        self._client = node.create_client(Trigger, name)

    def __call__(self) -> str:
        """Call, and return why it was not done; empty: it was."""
        name = self._client.srv_name
        if not self._client.wait_for_service(timeout_sec=ANSWER_S):
            return f"nobody answers on {name}: no bridge is in the graph"
        done = threading.Event()
        future = self._client.call_async(Trigger.Request())
        future.add_done_callback(lambda _: done.set())
        if not done.wait(ANSWER_S):
            return f"{name} did not answer within {ANSWER_S:.0f} s"
        answer: Any = future.result()
        return "" if answer is not None and answer.success else f"{name}: {getattr(answer, 'message', '')}"
