"""A server's socket, which admits well-formed requests, and answers those that need no model.

Data that is not a request is dropped; malformed requests and those with a wrong token or version are refused; `hello`,
`ping` and `stop` are answered. The model's thread reads the socket itself, which saves two thread switches per call.
While the model works for long, the heartbeat thread reads it, and answers pings.
"""

from __future__ import annotations

import contextlib
import hmac
import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import zmq

from openral_core.errors import SidecarError
from openral_sidecar.errors import SidecarRefused, WireError
from openral_sidecar.paths import run_folder
from openral_sidecar.server_announcement import read_announcement
from openral_sidecar.stop_request import StopRequest
from openral_sidecar.wires import openral as wire
from openral_sidecar.wires.dialect import PROTOCOL, other_version

MAX_WAITING = 32
"""Largest number of requests that wait for the model; each client has one call at a time."""
QUEUED_FRAMES = 8
"""Largest number of further frames that ZeroMQ queues for one client, so that memory is bounded."""
LONG_S = 0.05
"""[s] of the model's work after which the heartbeat thread reads the socket."""


@dataclass(frozen=True)
class Request:
    """An admitted request."""

    sender: bytes
    call: int
    op: str
    data: dict[str, Any]
    until: float
    """[s] monotonic time of the caller's deadline."""


class RequestSocket:
    """The socket of one server.

    Args:
        host: address to bind.
        port: TCP port; 0: any free one.
        token: token that a request must carry; empty: none.
        hello: answer to `hello`.

    Attributes:
        port: TCP port that is bound.
        socket: path of the Unix socket that is bound as well; empty: none.
        stop: request to end, after which `next` returns None.

    Raises:
        SidecarError: the address cannot be bound; the message names the server that has it.
    """

    def __init__(self, host: str, port: int, token: str, hello: dict[str, Any]) -> None:
        self._token = token
        self._hello = hello
        self._waiting: deque[Request] = deque()
        self._busy_since: float | None = None
        self._closed = threading.Event()  # must not be used in signal handlers, as it has a lock
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.ROUTER)
        self._socket.setsockopt(zmq.LINGER, 200)
        self._socket.setsockopt(zmq.IPV6, ":" in host)
        self._socket.setsockopt(zmq.MAXMSGSIZE, wire.MAX_BYTES)
        self._socket.setsockopt(zmq.RCVHWM, QUEUED_FRAMES)
        self.port = self._bind(host, port)
        self.socket = self._bind_locally()
        self.stop = StopRequest()
        self._poller = zmq.Poller()
        self._poller.register(self._socket, zmq.POLLIN)
        self._poller.register(self.stop.fileno(), zmq.POLLIN)
        self._turn = threading.Lock()
        """Held by the thread that may use the socket: the model's, unless it is `busy`."""
        self._turn.acquire()
        self._heartbeat = threading.Thread(
            target=self._answer_while_busy, name="sidecar-heartbeat", daemon=True
        )
        self._heartbeat.start()

    def next(self) -> Request | None:
        """Wait for a request for the model, and return it; None: the server is to end."""
        while not self.stop.asked:
            if not self._waiting:
                self._look()
            elif (request := self._waiting.popleft()).until > time.monotonic():
                return request
            # An expired request is skipped, as its caller has given up.
        return None

    @contextlib.contextmanager
    def busy(self) -> Iterator[None]:
        """Leave the socket to the heartbeat thread while the model works in the block."""
        self._busy_since = time.monotonic()
        self._turn.release()
        try:
            yield
        finally:
            self._busy_since = None
            if not self._turn.acquire(blocking=False):
                self.stop.wake()  # the heartbeat thread has it
                self._turn.acquire()

    def send(self, request: Request, frame: bytes) -> None:
        """Send a reply."""
        self._send(request.sender, frame)

    def close(self) -> None:
        """Send the remaining replies, and close the socket."""
        self._closed.set()
        self._heartbeat.join()
        self._socket.close()
        self._context.term()
        self.stop.close()

    def _answer_while_busy(self) -> None:
        """Read the socket while the model works for long; body of the heartbeat thread."""
        while not self._closed.wait(LONG_S):
            since = self._busy_since
            if since is not None and time.monotonic() - since > LONG_S and self._turn.acquire(blocking=False):
                with contextlib.ExitStack() as turn:
                    turn.callback(self._turn.release)
                    while self._busy_since is not None:
                        self._look()

    def _look(self) -> None:
        """Wait for a message or for `stop`, and handle it; the caller must hold the turn."""
        for source, _ in self._poller.poll():
            if source == self.stop.fileno():
                self.stop.drain()
            else:
                self._receive([part.buffer for part in self._socket.recv_multipart(copy=False)])

    def _bind(self, host: str, port: int) -> int:
        try:
            self._socket.bind(f"tcp://{host}:{port or '*'}")
        except zmq.ZMQError as error:
            self._context.destroy(linger=0)
            if error.errno == zmq.EADDRINUSE:
                raise SidecarError(f"{host}:{port} {_taken_by(port)}") from error
            raise SidecarError(f"{host}:{port}: {error.strerror}; choose another --host") from error
        return int(self._socket.getsockopt_string(zmq.LAST_ENDPOINT).rpartition(":")[2])

    def _bind_locally(self) -> str:
        """Bind a Unix socket as well, in a folder private to this user; return its path, empty: it cannot be bound."""
        path = str(run_folder() / f"{self.port}.sock")
        try:
            self._socket.bind(f"ipc://{path}")
        except zmq.ZMQError:  # such as for a path that is too long
            return ""
        return path

    def _receive(self, parts: list[memoryview]) -> None:
        if len(parts) != 3 or parts[1]:
            return  # not from a REQ socket
        sender, call = bytes(parts[0]), 0
        try:
            message = wire.unpack(parts[2])
            if not isinstance(message, dict):
                raise WireError("a request is a map")
            call = message["id"] if type(message.get("id")) is int else 0
            answer = self._admit(sender, call, message)
        except WireError as error:
            self._send(sender, refusal(call, SidecarRefused("malformed", str(error))))
        except SidecarRefused as why:
            self._send(sender, refusal(call, why))
        else:
            if answer is not None:
                self._send(sender, reply(call, answer))

    def _admit(self, sender: bytes, call: int, message: dict[str, Any]) -> dict[str, Any] | None:
        """Return the answer to a request that needs no model, or queue the request for the model and return None.

        Raises:
            SidecarRefused: the request is malformed or not allowed, or the queue is full.
        """
        version, token, op, data, wait = (message.get(key) for key in ("v", "token", "op", "data", "wait_ms"))
        if other := other_version(version):
            text = f"this server speaks protocol {PROTOCOL}, the client {other}; update the older one"
            raise SidecarRefused("version", text)
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
            self.stop.ask()
            return {}
        if len(self._waiting) >= MAX_WAITING:
            raise SidecarRefused("busy", f"{MAX_WAITING} requests are waiting; ask less often")
        self._waiting.append(Request(sender, call, op, data, time.monotonic() + min(wait, 10**9) / 1e3))
        return None

    def _send(self, receiver: bytes, frame: bytes) -> None:
        with contextlib.suppress(zmq.ZMQError):  # the client may have disconnected
            self._socket.send_multipart([receiver, b"", frame], zmq.NOBLOCK, copy=False)


def reply(call: int, data: dict[str, Any]) -> bytes:
    """Return the frame of an answer.

    Raises:
        WireError: a value cannot be encoded.
    """
    return wire.pack({"v": PROTOCOL, "id": call, "data": data})


def refusal(call: int, why: SidecarRefused) -> bytes:
    """Return the frame of a refusal."""
    return wire.pack({"v": PROTOCOL, "id": call, "code": why.code, "message": why.message})


def _same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode("utf-8", "replace"))


def _taken_by(port: int) -> str:
    other = read_announcement(port)
    if other is None:
        return "is taken by another program; choose another --port, or 0 for a free one"
    return (
        f"is taken by pid {other.pid}, which serves {other.identity}; `openral sidecar stop {port}` ends it"
    )
