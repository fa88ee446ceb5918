"""Calling a service that says whether it was done and why not, and waiting for it, beside the executor's thread."""

from __future__ import annotations

import threading
from typing import Any

from rclpy.node import Node

ANSWER_S = 2.0
"""[s] wall time that a service has for its answer."""


class ServiceCall:
    """A client that is made before it is needed, so that the graph knows it when it is."""

    def __init__(
        self, node: Node, kind: Any, name: str, server: str = "bridge", answer_s: float = ANSWER_S
    ) -> None:
        """Prepare.

        Args:
            node: is spun by an executor in another thread.
            kind: of the service, such as `std_srvs.srv.Trigger`.
            name: of the service, relative to the node's namespace.
            server: which node offers it, for the words of an error.
            answer_s: [s] wall time that it has for its answer.
        """
        self._kind, self._client = kind, node.create_client(kind, name)
        self._server, self._answer_s = server, answer_s

    def __call__(self, **fields: Any) -> str:
        """Call with the fields of a request, and return why it was not done; empty: it was."""
        name = self._client.service_name
        if not self._client.wait_for_service(timeout_sec=ANSWER_S):
            return f"nobody answers on {name}: no {self._server} is in the graph"
        done = threading.Event()
        future = self._client.call_async(self._kind.Request(**fields))
        future.add_done_callback(lambda _: done.set())
        if not done.wait(self._answer_s):
            return f"{name} did not answer within {self._answer_s:.0f} s"
        answer: Any = future.result()
        # std_srvs calls the field `success`, this package's own services call it `ok`.
        was_done = getattr(answer, "success", False) or getattr(answer, "ok", False)
        return "" if was_done else f"{name}: {getattr(answer, 'message', '')}"
