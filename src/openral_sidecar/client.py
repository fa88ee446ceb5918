"""The client's side of a call: one deadline each, and a socket that is never left waiting for a lost reply."""

from __future__ import annotations

import itertools
import math
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import zmq

from openral_sidecar.environment.spec import DialectName
from openral_sidecar.errors import SidecarDown, SidecarTimeout
from openral_sidecar.wires.dialect import dialect_of
from openral_sidecar.wires.openral import MAX_BYTES

LOOK_UP_S = 0.05
"""While it waits, a call looks this often whether its server is still there."""


class SidecarClient:
    """Calls a server, one call at a time; threads may share it.

    Args:
        endpoint: `tcp://host:port`.
        token: what the server demands; empty: nothing.
        dialect: the language of the server.
    """

    def __init__(self, endpoint: str, *, token: str = "", dialect: DialectName = "openral") -> None:
        self.endpoint = endpoint
        self._token = token
        self._dialect = dialect_of(dialect)
        self._context = zmq.Context()
        self._socket: zmq.Socket[bytes] | None = None
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
        """Ask the server and wait for its answer.

        Args:
            op: what to do.
            data: the input.
            timeout_s: deadline in seconds, over everything, waiting for another thread's call included.
            lost: says why no answer can come any more, or None while it can; asked every LOOK_UP_S.

        Raises:
            SidecarTimeout: the deadline passed.
            SidecarDown: `lost` said so, or the client is closed.
            SidecarRefused: the server refused.
            WireError: the input has no form on the wire, or the answer is not one.
        """
        until = time.monotonic() + timeout_s
        if not self._lock.acquire(timeout=max(0.0, timeout_s)):
            raise SidecarTimeout(
                f"{self.endpoint}: {op}: {timeout_s:g} s passed while another call was running"
            )
        try:
            call = next(self._calls)
            frame = self._dialect.request(op, data, self._token, call, timeout_s)
            socket = self._connected()
            try:
                socket.send(frame, copy=False)  # a second copy of large images costs new pages each time
                answer = self._wait(socket, op, until, timeout_s, lost)
            except BaseException:
                self._drop()  # a REQ socket that lost its reply cannot send again; a late reply dies with it
                raise
            return self._dialect.reply(answer, call)
        finally:
            self._lock.release()

    def close(self) -> None:
        """Close the socket; waits for a call that is running. A later call raises SidecarDown."""
        with self._lock:
            self._drop()
            self._context.destroy(linger=0)

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
        if self._context.closed:
            raise SidecarDown(f"{self.endpoint}: this client was closed")
        if self._socket is None:
            self._socket = self._context.socket(zmq.REQ)
            self._socket.setsockopt(zmq.LINGER, 0)
            self._socket.setsockopt(zmq.MAXMSGSIZE, MAX_BYTES)
            self._socket.setsockopt(zmq.RECONNECT_IVL_MAX, 1000)
            self._socket.connect(self.endpoint)
        return self._socket

    def _drop(self) -> None:
        if self._socket is not None:
            self._socket.close(linger=0)
            self._socket = None
