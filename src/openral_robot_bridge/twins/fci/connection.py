"""A TCP port with one client: requests come in frames and are answered by their ids; states are sent by UDP."""

from __future__ import annotations

import contextlib
import socket
import struct
from dataclasses import dataclass

from openral_robot_bridge.twins.fci.wire import CONNECT

MAX_FRAME = 4096
"""[bytes] largest frame that is accepted."""


@dataclass(frozen=True)
class FciRequest:
    """A request of the client."""

    command: int
    id: int
    payload: bytes


class Connection:
    """A listening port that accepts another client after one has disconnected; only answers may block."""

    def __init__(
        self, host: str, port: int, version: int, header: struct.Struct, reply: struct.Struct
    ) -> None:
        """Listen.

        Args:
            host: address of this machine.
            port: TCP port.
            version: of the protocol, which must equal the client's.
            header: layout of the header of requests and answers.
            reply: layout of the status number that follows the header of an answer.

        Raises:
            OSError: the port is taken, or the host is not of this machine.
        """
        self._version, self._header, self._reply = version, header, reply
        self._listener = socket.create_server((host, port))
        self._listener.setblocking(False)
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind((host, 0))
        self._client: socket.socket | None = None
        self._received = b""
        self._states_to: tuple[str, int] | None = None

    @property
    def connected(self) -> bool:
        """Whether a client is connected, and gets states."""
        return self._states_to is not None

    def requests(self) -> list[FciRequest]:
        """Return the requests that have come; Connect is answered here and left out."""
        if self._client is None:
            try:
                self._client, _ = self._listener.accept()
            except BlockingIOError:
                return []
            self._client.setblocking(False)
            self._client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._receive()
        return [request for request in self._frames() if not self._connects(request)]

    def answer(self, command: int, id_: int, reply: int, payload: bytes = b"") -> None:
        """Answer a request, if the client is still connected."""
        if self._client is not None:
            body = self._reply.pack(reply) + payload
            try:
                self._client.setblocking(True)
                self._client.sendall(self._header.pack(command, id_, self._header.size + len(body)) + body)
                self._client.setblocking(False)
            except OSError:
                self._drop()

    def send_state(self, state: bytes) -> None:
        """Send a state, if a client is connected; may be called from any thread."""
        to = self._states_to
        if to is not None:
            with contextlib.suppress(OSError):  # a network that is away loses it, as any datagram
                self._udp.sendto(state, to)

    def receive_datagram(self, size: int, wait_s: float) -> bytes | None:
        """Return a datagram of `size` [bytes]; empty: one of another size came; None: none came within `wait_s` [s]."""
        self._udp.settimeout(max(wait_s, 1e-6))
        try:
            data = self._udp.recv(size + 1)
        except (TimeoutError, BlockingIOError, ConnectionError):
            return None
        return data if len(data) == size else b""

    def close(self) -> None:
        """Close the port."""
        self._drop()
        self._listener.close()
        self._udp.close()

    def _receive(self) -> None:
        assert self._client is not None
        try:
            data = self._client.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._drop()
        self._received += data

    def _frames(self) -> list[FciRequest]:
        found = []
        while len(self._received) >= self._header.size:
            command, id_, size = self._header.unpack_from(self._received)
            if not self._header.size <= size <= MAX_FRAME:
                self._drop()
                break
            if len(self._received) < size:
                break
            found.append(FciRequest(command, id_, self._received[self._header.size : size]))
            self._received = self._received[size:]
        return found

    def _connects(self, request: FciRequest) -> bool:
        """Answer a request if it is a Connect, and return whether it is one."""
        if self._states_to is not None or request.command != 0 or len(request.payload) != CONNECT.size:
            return False
        version, port = CONNECT.unpack(request.payload)
        fits = version == self._version and port > 0
        self.answer(request.command, request.id, int(not fits), self._version.to_bytes(2, "little"))
        if fits and self._client is not None:
            try:
                self._states_to = (self._client.getpeername()[0], port)
            except OSError:  # it disconnected before the answer
                self._drop()
        return True

    def _drop(self) -> None:
        if self._client is not None:
            self._client.close()
        self._client, self._received, self._states_to = None, b"", None
