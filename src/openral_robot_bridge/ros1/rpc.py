"""XML-RPC calls of ROS 1, whose answer is a status code, a message, and a value."""

from __future__ import annotations

import http.client
import socket
import threading
import xmlrpc.client
from collections.abc import Callable
from typing import Any
from xml.parsers.expat import ExpatError
from xmlrpc.server import SimpleXMLRPCRequestHandler, SimpleXMLRPCServer

from openral_robot_bridge.connection_limit import ConnectionLimit, LimitedThreads
from openral_robot_bridge.ros1.messages import Ros1Error

CALL_S = 3.0
"""[s] timeout of an answer."""
MAX_REQUEST_BYTES = 1 << 20
"""[bytes] size of a request beyond which it is rejected."""
REQUEST_S = 10.0
"""[s] of silence after which a connection without a whole request is closed."""
MAX_CONNECTIONS = 64
"""Connections that a server has open together; each is of one request."""
SUCCESS, FAILURE = 1, -1
"""Status codes of an answer."""


class _RpcTransport(xmlrpc.client.Transport):
    """HTTP transport with the timeout CALL_S."""

    def make_connection(self, host: Any) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(host, timeout=CALL_S)


def call(uri: str, method: str, *arguments: Any) -> Any:
    """Call a method of a node or a master, and return its value.

    Raises:
        Ros1Error: there is no answer from `uri`, or the call failed, with the peer's message.
    """
    try:
        proxy = xmlrpc.client.ServerProxy(uri, transport=_RpcTransport(), allow_none=True)
        answer = getattr(proxy, method)(*arguments)
    except (OSError, http.client.HTTPException, xmlrpc.client.Error, ExpatError) as error:
        words = f"{method} was not answered at {uri}: {error}"
        if isinstance(error, socket.gaierror):
            words += "; write the address of this name into /etc/hosts"
        raise Ros1Error(words) from error
    if not isinstance(answer, list) or len(answer) != 3:
        raise Ros1Error(f"{uri} answered {method} with something that ROS 1 does not know")
    code, words, value = answer
    if code != SUCCESS:
        raise Ros1Error(f"{uri} refused {method}: {words}")
    return value


class _RpcHandler(SimpleXMLRPCRequestHandler):
    timeout = REQUEST_S
    rpc_paths = ()  # any

    def do_POST(self) -> None:
        size = self.headers.get("content-length", "")
        if not size.isdigit() or int(size) > MAX_REQUEST_BYTES:
            self.send_error(413)
            return
        super().do_POST()


class _RpcServer(LimitedThreads, SimpleXMLRPCServer):
    pass


class RpcServer:
    """Answers XML-RPC calls in threads of its own."""

    def __init__(self, host: str, port: int, methods: dict[str, Callable[..., tuple[int, str, Any]]]) -> None:
        """Listen on an address of this machine.

        Args:
            host: address of this machine.
            port: TCP port; 0: any free one.
            methods: functions by name, which return status code, message and value.

        Raises:
            OSError: the port is taken, or the address is not of this machine.
        """
        self._server = _RpcServer(
            (host, port), requestHandler=_RpcHandler, logRequests=False, allow_none=True
        )
        address = "{}:{}".format(*self._server.server_address)
        self._server.limit = ConnectionLimit(MAX_CONNECTIONS, f"XML-RPC of ROS 1 at {address}")
        for name, method in methods.items():
            self._server.register_function(method, name)
        self.uri = f"http://{host}:{self._server.server_address[1]}/"
        """URI of the server."""
        poll = {"poll_interval": 0.1}
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs=poll, name="rpc", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Close the port."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
