"""The ROS graph as seen by this process, from liveliness tokens."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable

from ros2_embedded.timeouts import finite
from ros2_embedded.wire.tokens import EndpointRecord, NodeRecord, parse_token

_logger = logging.getLogger("ros2_embedded.graph")


class GraphCache:
    """Nodes and endpoints that are alive; thread-safe. Changes wake `wait_for` and call the listeners."""

    def __init__(self) -> None:
        """Start empty."""
        self._nodes: dict[str, NodeRecord] = {}
        self._endpoints: dict[str, EndpointRecord] = {}
        self._by_name: dict[str, dict[str, EndpointRecord]] = {}  # endpoints by topic or service
        self._changed = threading.Condition()
        self._listeners: list[Callable[[], None]] = []
        self.rejected = 0  # number of tokens that could not be parsed

    def add(self, key: str) -> None:
        """Add the node or endpoint of a token that appeared."""
        record = parse_token(key)
        if record is None:
            self.rejected += 1
            if self.rejected == 1:
                _logger.warning("cannot understand the token %.300r; further ones are only counted", key)
            return
        with self._changed:
            if key in self._nodes or key in self._endpoints:
                return
            if isinstance(record, NodeRecord):
                self._nodes[key] = record
            else:
                self._endpoints[key] = record
                self._by_name.setdefault(record.name, {})[key] = record
        self.notify()

    def remove(self, key: str) -> None:
        """Remove the node or endpoint of a token that disappeared."""
        with self._changed:
            endpoint = self._endpoints.pop(key, None)
            if endpoint is not None:
                same = self._by_name[endpoint.name]
                del same[key]
                if not same:
                    del self._by_name[endpoint.name]
            elif self._nodes.pop(key, None) is None:
                return
        self.notify()

    def notify(self) -> None:
        """Wake all calls of `wait_for`; also used when the context shuts down."""
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
        """Remove a function that was added by `add_listener`."""
        with self._changed:
            if listener in self._listeners:
                self._listeners.remove(listener)

    def wait_for(self, predicate: Callable[[], bool], timeout: float | None) -> bool:
        """Block until the predicate holds; it is tried after each change.

        Args:
            predicate: is called while the cache's lock is held.
            timeout: [s]; None, or longer than Python can wait: without limit.

        Returns:
            The last value of the predicate.
        """
        with self._changed:
            return self._changed.wait_for(predicate, finite(timeout))

    def nodes(self) -> list[NodeRecord]:
        """Return all nodes."""
        with self._changed:
            return list(self._nodes.values())

    def endpoints(self, kinds: Iterable[str] = (), name: str | None = None) -> list[EndpointRecord]:
        """Return the endpoints of these kinds (empty: all), of one topic or service if a name is given."""
        wanted = tuple(kinds)
        with self._changed:
            found = self._endpoints if name is None else self._by_name.get(name, {})
            return [record for record in found.values() if not wanted or record.kind in wanted]
