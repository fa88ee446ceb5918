"""Publishes a node's messages one by one or in batches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rclpy.publisher import Publisher
from rclpy.serialization import serialize_message


class Outbox:
    """Publishes messages at once, or buffers them while `together` is open. Not thread-safe.

    A single message wakes a thread of the middleware for each subscribing process, and the process itself, which costs
    more than the message. A batch wakes them once.
    """

    def __init__(self) -> None:
        self._kept: list[tuple[Publisher[Any], bytes]] | None = None

    def send(self, publisher: Publisher[Any], message: Any) -> None:
        """Publish a message as it is now, at once or at the end of `together`; it may be changed afterwards."""
        if self._kept is None:
            publisher.publish(message)
        else:
            self._kept.append((publisher, serialize_message(message)))

    @contextmanager
    def together(self) -> Iterator[None]:
        """Buffer the messages that are sent in this context, and publish them at its end in their order."""
        self._kept = []
        try:
            yield
        finally:
            kept, self._kept = self._kept, None
            for publisher, message in kept:
                publisher.publish(message)
