"""Ends connections whose client keeps the server waiting, since uvicorn waits for ever for the rest of a request.

uvicorn's `timeout_keep_alive` ends with the first byte of a request. Clients need neither token nor password for a
connection, and each one holds a descriptor and memory of the process that serves the operators.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

REQUEST_S = 20.0
"""[s] within which a client must send a request, its body included, and go on to read an answer."""
LOOKS = 4
"""Number of looks at a connection within REQUEST_S."""


class TimedHttpProtocol(AutoHTTPProtocol):  # type: ignore[misc,valid-type]
    """uvicorn's protocol with a limit on the time that a client may take; websockets have pings of their own."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to look at the connection from time to time."""
        super().connection_made(transport)
        self._progress: Any = None
        self._since_s = self.loop.time()
        self.loop.call_later(REQUEST_S / LOOKS, self._look)

    def _look(self) -> None:
        """End the connection if its client has sent no whole request, and read nothing, for REQUEST_S."""
        if self not in self.connections:  # the connection was lost, or became a websocket
            return
        cycle, transport = self.cycle, self.transport
        unsent = transport.get_write_buffer_size()
        waits = cycle is None or cycle.response_complete or cycle.more_body or unsent
        now_s = self.loop.time()
        if not waits or (cycle, unsent) != self._progress:
            self._progress, self._since_s = (cycle, unsent), now_s
        elif now_s - self._since_s >= REQUEST_S:
            transport.abort()
            return
        self.loop.call_later(REQUEST_S / LOOKS, self._look)
