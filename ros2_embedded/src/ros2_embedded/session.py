"""One Zenoh session: its liveliness tokens and the graph it sees; `session_config` says how it is set up."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from threading import Lock, Thread, current_thread
from typing import Any, TypeAlias

import zenoh

from ros2_embedded.certificate_dates import CertificateWatch, certificates_of
from ros2_embedded.graph import GraphCache
from ros2_embedded.local_links import remove_left
from ros2_embedded.process_settings import hand_over_sooner, keep_big_buffers
from ros2_embedded.rosidl.intra_process import Shared
from ros2_embedded.session_config import open_session
from ros2_embedded.shared_memory import SharedMemory
from ros2_embedded.wire.tokens import PREFIX

# Takes a CDR message, its attachment, and the fields that are shared instead of being in the CDR.
Listener: TypeAlias = Callable[[bytearray | bytes, bytes, Shared], None]


TOKENS_WAITING = 1 << 20
"""How many changes of the graph may wait to be read."""


class RosSession:
    """A Zenoh session with the graph of one ROS domain."""

    def __init__(self, domain: int) -> None:
        """Open the session and read the graph.

        Args:
            domain: ROS domain id.
        """
        keep_big_buffers()
        hand_over_sooner()
        self.domain = domain
        self.graph = GraphCache()
        config, self.zenoh = open_session(domain)
        self._certificates = CertificateWatch(certificates_of(config))
        self.shared_memory = SharedMemory(config)
        self.id = str(self.zenoh.zid())
        self._ids = itertools.count(1)
        self._listeners: dict[str, tuple[Listener, ...]] = {}
        self._lock = Lock()
        self._liveliness = self.zenoh.liveliness()
        # Not `direct`: these come in a thread that Zenoh needs for taking back a latched publisher, for
        # which it waits with the interpreter's lock held.
        self._watcher = self._liveliness.declare_subscriber(
            f"{PREFIX}/{domain}/**", zenoh.handlers.FifoChannel(TOKENS_WAITING), history=True
        )
        self._reader = Thread(target=self._read_tokens, name="graph", daemon=True)
        self._reader.start()

    def next_id(self) -> int:
        """A number no other entity of this session has."""
        return next(self._ids)

    def announce(self, key: str) -> Callable[[], None]:
        """Declare a liveliness token; call the result to take it back."""
        token = self._liveliness.declare_token(key)
        self.graph.add(key)

        def withdraw() -> None:
            self.graph.remove(key)
            if not self.zenoh.is_closed():
                token.undeclare()

        return withdraw

    def listen(self, key: str, listener: Listener) -> Callable[[], None]:
        """Hear what publishers of this session send to a key; call the result to end it."""
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
        """Who hears a key in this process."""
        return self._listeners.get(key, ())

    def _read_tokens(self) -> None:
        """Follow the graph until the session is closed."""
        with contextlib.suppress(zenoh.ZError):  # the channel's end
            while True:
                self._on_token(self._watcher.recv())

    def _on_token(self, sample: zenoh.Sample) -> None:
        """A token came or went."""
        if sample.kind == zenoh.SampleKind.PUT:
            self.graph.add(str(sample.key_expr))
        else:
            self.graph.remove(str(sample.key_expr))

    def close(self) -> None:
        """Close the session and with it everything declared on it; a second call does nothing."""
        self._certificates.close()
        if not self.zenoh.is_closed():
            self.zenoh.close()
            remove_left(self.domain)  # what killed nodes of this user left
        if current_thread() is not self._reader:
            self._reader.join()


def direct(function: Callable[[Any], None]) -> Any:
    """A Zenoh handler that runs in the receiving thread.

    The default handler has a Python thread of its own, which costs latency and keeps a process from ending
    when the session was not closed. The function must not block.
    """
    return zenoh.handlers.Callback(function, indirect=False)
