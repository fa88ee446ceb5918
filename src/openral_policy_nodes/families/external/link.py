"""Connection to a policy server: each request has one answer and a deadline; a lost connection is made again."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Mapping
from typing import Any

from websockets.exceptions import InvalidStatus, WebSocketException
from websockets.sync.client import ClientConnection, connect

from openral_core.cli.printable import plain_line
from openral_core.errors import SidecarError
from openral_policy_nodes.families.external import openpi_wire
from openral_policy_nodes.families.external.address import Address
from openral_sidecar.client import SidecarClient
from openral_sidecar.errors import SidecarDown, SidecarRefused, SidecarTimeout
from openral_sidecar.wires.openral import MAX_BYTES

CONNECT_S = 10.0
"""[s] deadline for opening a connection, and again for the server's first message."""


class OpenpiLink:
    """WebSocket to a server with openpi's protocol, which first sends metadata and then answers each observation."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._socket: ClientConnection | None = None
        self.metadata: dict[str, Any] = {}
        """Metadata that the server sent when the connection was made."""

    def open(self) -> None:
        """Connect, unless a connection exists.

        Raises:
            SidecarDown: no server answers, or it refuses the token.
            SidecarTimeout: it sends no metadata.
            WireError: its metadata cannot be decoded.
        """
        if self._socket is not None:
            return
        address = self._address
        # openpi's own client sends its key in the same header.
        headers = {"Authorization": f"Api-Key {address.token}"} if address.token else None
        try:
            self._socket = connect(
                address.url,
                compression=None,
                max_size=MAX_BYTES,
                additional_headers=headers,
                open_timeout=CONNECT_S,
                close_timeout=1.0,
                ping_interval=None,
                proxy=None,
            )
        except InvalidStatus as error:
            status = error.response.status_code
            raise SidecarDown(f"{address.url}: refused with HTTP status {status}; see its token") from error
        except (OSError, WebSocketException) as error:
            raise SidecarDown(f"{address.url}: {error or type(error).__name__}; start it there") from error
        found = self._receive(time.monotonic() + CONNECT_S, CONNECT_S)
        self.metadata = found if isinstance(found, dict) else {}

    def infer(self, observation: Mapping[str, Any], timeout_s: float) -> Any:
        """Return the answer to an observation.

        Raises:
            SidecarDown: the connection was lost, or none can be made.
            SidecarTimeout: there is no answer within `timeout_s`.
            SidecarRefused: the server reports that its inference failed.
            WireError: the answer cannot be decoded.
        """
        frame = openpi_wire.pack(dict(observation))
        until = time.monotonic() + timeout_s
        self.open()
        assert self._socket is not None
        try:
            # `send` has no deadline of its own, and would block if the server stopped reading.
            self._socket.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _timeval(timeout_s))
            self._socket.send(frame)
        except (OSError, WebSocketException) as error:
            self.close()
            raise SidecarDown(f"{self._address.url}: {error}") from error
        return self._receive(until, timeout_s)

    def close(self) -> None:
        """Close the connection; the next call makes a new one."""
        if self._socket is not None:
            old, self._socket = self._socket, None
            old.close()

    def _receive(self, until: float, timeout_s: float) -> Any:
        """Return the next message of the server.

        Every fault closes the connection, so that a late answer is not mistaken for the answer to the next request.
        """
        assert self._socket is not None
        url = self._address.url
        try:
            frame = self._socket.recv(timeout=max(0.0, until - time.monotonic()))
            if isinstance(frame, str):  # openpi sends the traceback of a failed inference as text
                raise SidecarRefused("error", plain_line(frame.strip().rpartition("\n")[2]))
            return openpi_wire.unpack(frame)
        except TimeoutError as error:
            self.close()
            raise SidecarTimeout(f"{url}: no answer within {timeout_s:g} s") from error
        except (OSError, WebSocketException) as error:
            self.close()
            raise SidecarDown(f"{url}: {error}") from error
        except SidecarError:
            self.close()
            raise


def _timeval(seconds: float) -> bytes:
    """Return the kernel's `struct timeval` for a duration [s]."""
    return struct.pack("@ll", int(seconds), int(seconds % 1.0 * 1e6))


def zmq_client(address: Address) -> SidecarClient:
    """Return a client of a server with the ZeroMQ protocol of RLDX-1 and GR00T."""
    return SidecarClient(f"tcp://{address.host}:{address.port}", token=address.token, dialect="rldx")


def probe(address: Address) -> dict[str, Any]:
    """Check that a policy server answers; return its metadata, which may be empty.

    Raises:
        SidecarError: no server answers, or it uses another protocol.
    """
    if address.scheme == "zmq":
        client = zmq_client(address)
        try:
            return client.call("ping", timeout_s=CONNECT_S)
        finally:
            client.close()
    link = OpenpiLink(address)
    try:
        link.open()
        return link.metadata
    finally:
        link.close()
