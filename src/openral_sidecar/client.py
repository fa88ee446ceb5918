"""The client's side of calls: each has a deadline, and a lost reply does not block the socket."""

from __future__ import annotations

import itertools
import math
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import zmq

from openral_sidecar.environment.spec import DialectName
from openral_sidecar.errors import SidecarDown, SidecarTimeout
from openral_sidecar.wires.dialect import dialect_of
from openral_sidecar.wires.openral import MAX_BYTES

LOOK_UP_S = 0.05
"""[s] between two checks, by a waiting call, that its server still exists."""


class _Link:
    """The ZeroMQ context of one client, and its socket while one is open."""

    def __init__(self) -> None:
        self.context = zmq.Context()
        self.socket: zmq.Socket[bytes] | None = None

    def drop(self) -> None:
        """Close the socket; what was not sent is lost."""
        if self.socket is not None:
            self.socket.close(linger=0)
            self.socket = None

    def close(self) -> None:
        """Close socket and context."""
        self.drop()
        self.context.destroy(linger=0)


class SidecarClient:
    """Calls a server, one call at a time; threads may share it.

    Args:
        endpoint: ZeroMQ address, such as `tcp://host:port`.
        token: token that the server requires; empty: none.
        dialect: protocol of the server.
    """

    def __init__(self, endpoint: str, *, token: str = "", dialect: DialectName = "openral") -> None:
        self.endpoint = endpoint
        self._token = token
        self._dialect = dialect_of(dialect)
        self._link = _Link()
        # If a client that nobody closed is garbage, the collector may end its context before its socket, and that
        # waits for ever. Here both are closed in order; they outlive the client, since this refers to them.
        weakref.finalize(self, self._link.close).atexit = False
        self._calls = itertools.count(1)
        self._lock = threading.Lock()

    def call(
        self,
        op: str,
        data: Mapping[str, Any] | None = None,
        *,
        timeout_s: float,
        lost: Callable[[], str | None] = lambda: None,
    ) -> dict[str, Any]:
        """Call an operation of the server, and return its answer.

        Args:
            op: name of the operation.
            data: its input.
            timeout_s: [s] deadline of the whole call, including the wait for another thread's call.
            lost: returns the reason why no answer can come any more, or None; called every LOOK_UP_S.

        Raises:
            SidecarTimeout: the deadline passed.
            SidecarDown: `lost` returned a reason, or the client is closed.
            SidecarRefused: the server refused.
            WireError: the input cannot be encoded, or the answer is malformed.
        """
        until = time.monotonic() + timeout_s
        if not self._lock.acquire(timeout=max(0.0, timeout_s)):
            raise SidecarTimeout(
                f"{self.endpoint}: {op}: {timeout_s:g} s passed while another call was running"
            )
        try:
            call = next(self._calls)
            # The server drops requests that nobody waits for any more.
            left = max(0.0, until - time.monotonic())
            frame = self._dialect.request(op, data, self._token, call, left)
            socket = self._connected()
            try:
                socket.send(frame, copy=False)  # a copy of large images would allocate memory each time
                answer = self._wait(socket, op, until, timeout_s, lost)
            except BaseException:
                self._link.drop()  # a REQ socket cannot send again without its reply; a late reply is discarded with it
                raise
            return self._dialect.reply(answer, call)
        finally:
            self._lock.release()

    def close(self) -> None:
        """Close the socket after a running call has ended; later calls raise SidecarDown."""
        with self._lock:
            self._link.close()

    def _wait(
        self,
        socket: zmq.Socket[bytes],
        op: str,
        until: float,
        timeout_s: float,
        lost: Callable[[], str | None],
    ) -> memoryview:
        while True:
            left = until - time.monotonic()
            socket.rcvtimeo = math.ceil(max(0.0, min(left, LOOK_UP_S)) * 1e3)
            try:
                return socket.recv(copy=False).buffer
            except zmq.Again:
                if (why := lost()) is not None:
                    raise SidecarDown(why) from None
                if left <= 0:
                    raise SidecarTimeout(f"{self.endpoint}: {op}: no answer within {timeout_s:g} s") from None

    def _connected(self) -> zmq.Socket[bytes]:
        link = self._link
        if link.context.closed:
            raise SidecarDown(f"{self.endpoint}: this client was closed")
        if link.socket is None:
            link.socket = link.context.socket(zmq.REQ)
            link.socket.setsockopt(zmq.LINGER, 0)
            # Only for such an address: a name would be looked up as one of IPv6 first.
            link.socket.setsockopt(
                zmq.IPV6, self.endpoint.startswith("tcp://") and self.endpoint.count(":") > 2
            )
            link.socket.setsockopt(zmq.MAXMSGSIZE, MAX_BYTES)
            link.socket.setsockopt(zmq.RECONNECT_IVL_MAX, 1000)
            link.socket.connect(self.endpoint)
        return link.socket
