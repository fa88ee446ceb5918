"""A Zenoh session with its liveliness tokens and the ROS graph; `session_config` makes its configuration."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from threading import RLock, Thread, current_thread
from typing import Any, TypeAlias

import zenoh

from ros2_embedded.certificate_dates import CertificateWatch, certificates_of
from ros2_embedded.graph import GraphCache
from ros2_embedded.local_links import remove_left
from ros2_embedded.process_settings import hand_over_sooner, keep_big_buffers
from ros2_embedded.rosidl.intra_process import Shared
from ros2_embedded.session_config import open_session
from ros2_embedded.shared_memory import SharedMemory
from ros2_embedded.wire.tokens import all_tokens, server_tokens

# Called with a CDR message, its attachment, and the fields that are shared instead of being in the CDR.
Listener: TypeAlias = Callable[[bytearray | bytes, bytes, Shared], None]


TOKENS_WAITING = 1 << 20
"""Largest number of graph changes in the queue."""


class RosSession:
    """A Zenoh session with the graph of one ROS domain."""

    def __init__(self, domain: int, enclave: str = "/", servers_only: tuple[str, str] | None = None) -> None:
        """Open the session and read the graph.

        Args:
            domain: ROS domain id.
            enclave: path of the enclave, if the environment asks for security.
            servers_only: how the names of services end, and their type: of other sessions the graph shows the
                servers of these only. None: all that is there.
        """
        keep_big_buffers()
        hand_over_sooner()
        self.domain = domain
        self.graph = GraphCache()
        config, self.zenoh = open_session(domain, enclave)
        self._certificates = CertificateWatch(certificates_of(config))
        self.shared_memory = SharedMemory(config)
        self.id = str(self.zenoh.zid())
        self._ids = itertools.count(1)
        self._listeners: dict[str, tuple[Listener, ...]] = {}
        self._lock = RLock()  # a signal may interrupt who holds it
        self._liveliness = self.zenoh.liveliness()
        # Not `direct`: these changes arrive in a thread that Zenoh needs for undeclaring a latched publisher,
        # for which it waits while it holds the interpreter lock.
        self._watcher = self._liveliness.declare_subscriber(
            all_tokens(domain) if servers_only is None else server_tokens(domain, *servers_only),
            zenoh.handlers.FifoChannel(TOKENS_WAITING),
            history=True,
        )
        self._reader = Thread(target=self._read_tokens, name="graph", daemon=True)
        self._reader.start()

    def next_id(self) -> int:
        """Return a number that no other entity of this session has."""
        return next(self._ids)

    def announce(self, key: str) -> Callable[[], None]:
        """Declare a liveliness token; return a function that undeclares it."""
        token = self._liveliness.declare_token(key)
        self.graph.add(key)

        def withdraw() -> None:
            self.graph.remove(key)
            if not self.zenoh.is_closed():
                token.undeclare()

        return withdraw

    def listen(self, key: str, listener: Listener) -> Callable[[], None]:
        """Call a listener for messages of this session's publishers to a key; return a function to end it."""
        with self._lock:
            self._listeners[key] = (*self._listeners.get(key, ()), listener)

        def end() -> None:
            with self._lock:
                left = tuple(known for known in self._listeners.get(key, ()) if known is not listener)
                self._listeners[key] = left
                if not left:
                    del self._listeners[key]

        return end

    def listeners(self, key: str) -> tuple[Listener, ...]:
        """Return the listeners of a key in this process."""
        return self._listeners.get(key, ())

    def _read_tokens(self) -> None:
        """Update the graph from liveliness tokens until the session is closed."""
        with contextlib.suppress(zenoh.ZError):  # raised when the channel is closed
            while True:
                self._on_token(self._watcher.recv())

    def _on_token(self, sample: zenoh.Sample) -> None:
        """Add or remove a token of the graph."""
        if sample.kind == zenoh.SampleKind.PUT:
            self.graph.add(str(sample.key_expr))
        else:
            self.graph.remove(str(sample.key_expr))

    def close(self) -> None:
        """Close the session and undeclare all its entities; a second call does nothing."""
        self._certificates.close()
        if not self.zenoh.is_closed():
            self.zenoh.close()
            remove_left(self.domain)  # sockets of killed nodes of this user
        if current_thread() is not self._reader:
            self._reader.join()


def direct(function: Callable[[Any], None]) -> Any:
    """Return a Zenoh handler that runs in the receiving thread.

    The default handler has a Python thread of its own, which adds latency and prevents the process from
    ending if the session was not closed. The function must not block.
    """
    return zenoh.handlers.Callback(function, indirect=False)
