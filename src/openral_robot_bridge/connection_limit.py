"""A bound on the connections of a server that has a thread for each, so that no peer can use up threads and memory."""

from __future__ import annotations

import logging
import threading
from socketserver import ThreadingMixIn
from typing import Any

_log = logging.getLogger(__name__)


class ConnectionLimit:
    """Counts the open connections of a server, from any thread; the first one that is refused is logged."""

    def __init__(self, most: int, what: str) -> None:
        """Begin without connections.

        Args:
            most: number of connections that may be open together.
            what: names the server in the log, such as its address.
        """
        self._most, self._what = most, what
        self._open = 0
        self._told = False
        self._lock = threading.Lock()

    def enter(self, beside: int = 0) -> bool:
        """Count a new connection, and return True, unless as many are open already.

        Args:
            beside: number of open connections that are counted elsewhere.
        """
        with self._lock:
            if self._open + beside < self._most:
                self._open += 1
                return True
            told, self._told = self._told, True
        if not told:
            _log.warning(
                "%s: %d connections are open, and further ones are refused; look for a program that leaves its open",
                self._what,
                self._most,
            )
        return False

    def leave(self) -> None:
        """Count a connection no more."""
        with self._lock:
            self._open -= 1


class LimitedThreads(ThreadingMixIn):
    """Makes a `socketserver` serve each connection in a thread of its own, and refuse those beyond a limit."""

    daemon_threads = True
    limit: ConnectionLimit

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection, or close it at once."""
        if not self.limit.enter():
            self.shutdown_request(request)  # type: ignore[attr-defined]
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self.limit.leave()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection until it ends."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.limit.leave()
