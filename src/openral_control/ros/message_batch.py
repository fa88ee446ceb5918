"""Sends a node's messages one by one, or many in one go."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rclpy.publisher import Publisher
from rclpy.serialization import serialize_message


class Outbox:
    """Publishes at once, or keeps messages while `together` is open. For one thread.

    A message that is sent alone wakes a thread of the middleware for each process that listens, and the process itself;
    that costs more than the message. Messages that are sent in one go wake them once.
    """

    def __init__(self) -> None:
        self._kept: list[tuple[Publisher[Any], bytes]] | None = None

    def send(self, publisher: Publisher[Any], message: Any) -> None:
        """Publish a message, now or at the end of `together`; as it is now, whatever becomes of it afterwards."""
        if self._kept is None:
            publisher.publish(message)
        else:
            self._kept.append((publisher, serialize_message(message)))

    @contextmanager
    def together(self) -> Iterator[None]:
        """Keep what is sent until the end, and publish it then, in the order in which it was sent."""
        self._kept = []
        try:
            yield
        finally:
            kept, self._kept = self._kept, None
            for publisher, message in kept:
                publisher.publish(message)
