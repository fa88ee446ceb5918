"""The ROS graph as this process sees it, kept from liveliness tokens."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable

from ros2_embedded.wire.tokens import EndpointRecord, NodeRecord, parse_token

_logger = logging.getLogger("ros2_embedded.graph")


class GraphCache:
    """Nodes and endpoints that are alive; thread-safe. Changes wake `wait_for` and call the listeners."""

    def __init__(self) -> None:
        """Start empty."""
        self._records: dict[str, NodeRecord | EndpointRecord] = {}
        self._changed = threading.Condition()
        self._listeners: list[Callable[[], None]] = []
        self.rejected = 0  # tokens that could not be understood

    def add(self, key: str) -> None:
        """A token appeared."""
        record = parse_token(key)
        if record is None:
            self.rejected += 1
            if self.rejected == 1:
                _logger.warning("cannot understand the token %.300r; further ones are only counted", key)
            return
        with self._changed:
            if key in self._records:
                return
            self._records[key] = record
        self.notify()

    def remove(self, key: str) -> None:
        """A token disappeared."""
        with self._changed:
            if self._records.pop(key, None) is None:
                return
        self.notify()

    def notify(self) -> None:
        """Wake everybody who waits for a change; also used when the context shuts down."""
        with self._changed:
            self._changed.notify_all()
            listeners = list(self._listeners)
        for listener in listeners:
            listener()

    def add_listener(self, listener: Callable[[], None]) -> None:
        """Call a function, which must not block, after each change."""
        with self._changed:
            self._listeners.append(listener)

    def remove_listener(self, listener: Callable[[], None]) -> None:
        """Undo `add_listener`."""
        with self._changed:
            if listener in self._listeners:
                self._listeners.remove(listener)

    def wait_for(self, predicate: Callable[[], bool], timeout: float | None) -> bool:
        """Block until the predicate holds; it is tried after each change.

        Args:
            predicate: called with the cache's lock held.
            timeout: [s]; None waits for ever.

        Returns:
            The last value of the predicate.
        """
        with self._changed:
            return self._changed.wait_for(predicate, timeout)

    def nodes(self) -> list[NodeRecord]:
        """All nodes."""
        with self._changed:
            return [record for record in self._records.values() if isinstance(record, NodeRecord)]

    def endpoints(self, kinds: Iterable[str] = (), name: str | None = None) -> list[EndpointRecord]:
        """Endpoints of the given kinds (all when empty), of one topic or service when a name is given."""
        wanted = tuple(kinds)
        with self._changed:
            return [
                record
                for record in self._records.values()
                if isinstance(record, EndpointRecord)
                and (not wanted or record.kind in wanted)
                and (name is None or record.name == name)
            ]
