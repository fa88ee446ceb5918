"""Calls services that answer with success and a message, and waits for them outside the executor's thread."""

from __future__ import annotations

from typing import Any

from rclpy.node import Node

from openral_core.cli.printable import plain_line
from openral_core.ros.service_call import ServiceNotFound, ServiceTimeout, call_service

ANSWER_S = 2.0
"""[s] wall time that a service has for its answer."""


class ServiceCall:
    """A client that is made before it is needed, so that the graph knows it when it is."""

    def __init__(
        self, node: Node, kind: Any, name: str, server: str = "bridge", answer_s: float = ANSWER_S
    ) -> None:
        """Create the client.

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
        """Call with the fields of a request; return why it failed, or an empty text."""
        name = self._client.service_name
        request = self._kind.Request(**fields)
        try:
            answer = call_service(self._client, request, find_s=ANSWER_S, answer_s=self._answer_s)
        except ServiceNotFound:
            return f"nobody answers on {name}: no {self._server} is in the graph"
        except ServiceTimeout as error:
            return str(error)
        except ValueError as error:  # of what is no message of the service's type
            return f"{name}: its answer cannot be read: {plain_line(str(error))}"
        # std_srvs calls the field `success`, this package's own services call it `ok`.
        was_done = getattr(answer, "success", False) or getattr(answer, "ok", False)
        return "" if was_done else f"{name}: {plain_line(getattr(answer, 'message', ''))}"
