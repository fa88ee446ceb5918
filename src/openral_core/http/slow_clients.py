"""Bounds the connections of an HTTP server: their number, and the time for which a client may keep it waiting.

uvicorn waits for ever for the rest of a request: its `timeout_keep_alive` ends with the first byte. Clients need
neither token nor password for a connection, and each one holds a descriptor and memory of the process that serves the
others.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

REQUEST_S = 20.0
"""[s] within which a client must send a request, its body included, and go on to read an answer."""
LOOKS = 4
"""Number of looks at a connection within REQUEST_S."""
MOST_CONNECTIONS = 256
"""Largest number of connections, websockets included; one more ends the one that has waited longest for its client.
There may be as many again whose encryption is not agreed on yet."""


class TimedHttpProtocol(AutoHTTPProtocol):  # type: ignore[misc,valid-type]
    """uvicorn's protocol with a limit on the time that a client may take; websockets have pings of their own."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to look at the connection from time to time; make place for it if there are too many."""
        super().connection_made(transport)
        _begun.pop(transport.get_extra_info("socket").fileno(), None)
        self._progress: Any = None
        self._since_s = self.loop.time()
        self.loop.call_later(REQUEST_S / LOOKS, self._look)
        there = [each for each in self.connections if not each.transport.is_closing()]
        if len(there) > MOST_CONNECTIONS:
            waiting = [each for each in there if isinstance(each, TimedHttpProtocol) and each._waits()]
            min(waiting, key=lambda each: each._since_s, default=self).transport.abort()

    def _waits(self) -> bool:
        """Return whether the server waits for the client to send or to read something."""
        cycle = self.cycle
        unsent = self.transport.get_write_buffer_size()
        return bool(cycle is None or cycle.response_complete or cycle.more_body or unsent)

    def _look(self) -> None:
        """End the connection if its client has sent no whole request, and read nothing, for REQUEST_S."""
        if self not in self.connections:  # the connection was lost, or became a websocket
            return
        progress = (self.cycle, self.transport.get_write_buffer_size())
        now_s = self.loop.time()
        if not self._waits() or progress != self._progress:
            self._progress, self._since_s = progress, now_s
        elif now_s - self._since_s >= REQUEST_S:
            self.transport.abort()
            return
        self.loop.call_later(REQUEST_S / LOOKS, self._look)


_begun: dict[int, socket.socket] = {}
"""Descriptor -> connection that was accepted and that no protocol has yet, the oldest first."""


class BoundedListener(socket.socket):
    """A listening socket that bounds the connections before a protocol has them, which over TLS is after the handshake.

    asyncio gives a client a minute for it, and as many clients as there are descriptors.
    """

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection, in an event loop; make place for it if there are too many."""
        made, address = super().accept()
        for descriptor in [number for number, each in _begun.items() if each.fileno() < 0]:
            del _begun[descriptor]  # it has ended
        if len(_begun) >= MOST_CONNECTIONS:
            _end(next(iter(_begun.values())))
        _begun[made.fileno()] = made
        asyncio.get_running_loop().call_later(REQUEST_S, _end, made)
        return made, address


def _end(connection: socket.socket) -> None:
    """End a connection unless a protocol has it, or it has ended."""
    if _begun.get(connection.fileno()) is connection:
        del _begun[connection.fileno()]
        with contextlib.suppress(OSError):  # the client has gone
            connection.shutdown(socket.SHUT_RDWR)
