"""The thread that owns a server's socket: it lets in well-formed requests and answers what needs no model.

It drops what is not a request at all, refuses what is malformed, has a wrong token or another version, and answers
`hello`, `ping` and `stop` itself, so that a server whose model is at work still says that it lives.
"""

from __future__ import annotations

import contextlib
import hmac
import queue
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import zmq

from openral_core.errors import SidecarError
from openral_core.sidecar import wire
from openral_core.sidecar.dialect import PROTOCOL
from openral_core.sidecar.errors import SidecarRefused, WireError
from openral_core.sidecar.identity import read_announcement

MAX_WAITING = 32
"""Requests that may wait for the model; clients have one call each."""
QUEUED_FRAMES = 8
"""Frames that ZeroMQ holds for one client beyond those, so that memory stays bounded."""


@dataclass(frozen=True)
class Request:
    """A request that was let in."""

    sender: bytes
    call: int
    op: str
    data: dict[str, Any]
    until: float
    """Its caller's deadline on the monotonic clock [s]."""

    @property
    def expired(self) -> bool:
        """Whether its caller has given up."""
        return time.monotonic() > self.until


class Door(threading.Thread):
    """Owns the socket.

    Args:
        host: address to bind.
        port: 0: a free one; the attribute `port` says which.
        token: what a request must carry; empty: nothing.
        hello: what `hello` answers.
        requests: where requests for the model go; None asks the server to end.

    Raises:
        SidecarError: the address cannot be bound; the text says who has it.
    """

    def __init__(
        self,
        host: str,
        port: int,
        token: str,
        hello: dict[str, Any],
        requests: queue.SimpleQueue[Request | None],
    ) -> None:
        super().__init__(name="sidecar-door", daemon=True)
        self._token = token
        self._hello = hello
        self._requests = requests
        self._busy_since: float | None = None
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.ROUTER)
        self._socket.setsockopt(zmq.LINGER, 200)
        self._socket.setsockopt(zmq.MAXMSGSIZE, wire.MAX_BYTES)
        self._socket.setsockopt(zmq.RCVHWM, QUEUED_FRAMES)
        self.port = self._bind(host, port)
        self._outbox = self._context.socket(zmq.PAIR)
        self._outbox.bind("inproc://outbox")
        self._inbox = self._context.socket(zmq.PAIR)
        self._inbox.connect("inproc://outbox")

    @contextlib.contextmanager
    def busy(self) -> Iterator[None]:
        """Note that the model is at work."""
        self._busy_since = time.monotonic()
        try:
            yield
        finally:
            self._busy_since = None

    def reply(self, request: Request, data: Any) -> None:
        """Send what a handler returned. Raises WireError for a value that has no form on the wire."""
        if not isinstance(data, dict):
            raise WireError(f"the handler of {request.op} returned {type(data).__name__}, not a dict")
        self._outbox.send_multipart(
            [request.sender, wire.pack({"v": PROTOCOL, "id": request.call, "data": data})]
        )

    def refuse(self, request: Request, refusal: SidecarRefused) -> None:
        """Send a refusal."""
        self._outbox.send_multipart([request.sender, _refusal(request.call, refusal)])

    def close(self) -> None:
        """Send what is still to be sent, and end the thread."""
        self._outbox.send(b"")
        self.join()
        self._outbox.close(linger=0)
        self._context.term()

    def run(self) -> None:
        """Pass requests in and replies out until `close`."""
        poller = zmq.Poller()
        poller.register(self._socket, zmq.POLLIN)
        poller.register(self._inbox, zmq.POLLIN)
        open_ = True
        while open_:
            for socket, _ in poller.poll():
                if socket is self._inbox:
                    reply = self._inbox.recv_multipart()
                    open_ = len(reply) == 2
                    if open_:
                        self._send(*reply)
                else:
                    self._receive(self._socket.recv_multipart())
        self._inbox.close(linger=0)
        self._socket.close()

    def _bind(self, host: str, port: int) -> int:
        try:
            self._socket.bind(f"tcp://{host}:{port or '*'}")
        except zmq.ZMQError as error:
            self._context.destroy(linger=0)
            if error.errno == zmq.EADDRINUSE:
                raise SidecarError(f"{host}:{port} {_taken_by(port)}") from error
            raise SidecarError(f"{host}:{port}: {error.strerror}; choose another --host") from error
        return int(self._socket.getsockopt_string(zmq.LAST_ENDPOINT).rpartition(":")[2])

    def _receive(self, parts: list[bytes]) -> None:
        if len(parts) != 3 or parts[1]:
            return  # not from a REQ socket
        sender, _, frame = parts
        call = 0
        try:
            message = wire.unpack(frame)
            if not isinstance(message, dict):
                raise WireError("a request is a map")
            call = message["id"] if type(message.get("id")) is int else 0
            data = self._admit(sender, call, message)
        except WireError as error:
            return self._send(sender, _refusal(call, SidecarRefused("malformed", str(error))))
        except SidecarRefused as refusal:
            return self._send(sender, _refusal(call, refusal))
        if data is not None:
            self._send(sender, wire.pack({"v": PROTOCOL, "id": call, "data": data}))

    def _admit(self, sender: bytes, call: int, message: dict[str, Any]) -> dict[str, Any] | None:
        """Return the answer to a request that needs no model; pass any other on and return None."""
        version, token, op, data, wait = (message.get(key) for key in ("v", "token", "op", "data", "wait_ms"))
        if version != PROTOCOL:
            text = f"this server speaks protocol {PROTOCOL}, the client {version!r}; update the older one"
            raise SidecarRefused("version", text[:200])
        if self._token and not (isinstance(token, str) and _same(token, self._token)):
            raise SidecarRefused("token", "wrong token; give the client the server's")
        if not (isinstance(op, str) and isinstance(data, dict) and type(wait) is int and wait >= 0):
            raise SidecarRefused(
                "malformed", "a request has op (text), data (map) and wait_ms (int, not negative)"
            )
        if op == "hello":
            return self._hello
        if op == "ping":
            since = self._busy_since
            return {"busy_s": None if since is None else time.monotonic() - since}
        if op == "stop":
            if not self._token:
                raise SidecarRefused(
                    "token", "only a server with a token can be asked to stop; end its process"
                )
            self._requests.put(None)
            return {}
        if self._requests.qsize() >= MAX_WAITING:
            raise SidecarRefused("busy", f"{MAX_WAITING} requests are waiting; ask less often")
        self._requests.put(Request(sender, call, op, data, time.monotonic() + min(wait, 10**9) / 1e3))
        return None

    def _send(self, receiver: bytes, frame: bytes) -> None:
        with contextlib.suppress(zmq.ZMQError):  # a client that is gone needs no answer
            self._socket.send_multipart([receiver, b"", frame], zmq.NOBLOCK)


def _same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode("utf-8", "replace"))


def _refusal(call: int, refusal: SidecarRefused) -> bytes:
    return wire.pack({"v": PROTOCOL, "id": call, "code": refusal.code, "message": refusal.message})


def _taken_by(port: int) -> str:
    other = read_announcement(port)
    if other is None:
        return "is taken by another program; choose another --port, or 0 for a free one"
    return (
        f"is taken by pid {other.pid}, which serves {other.identity}; `openral sidecar stop {port}` ends it"
    )
