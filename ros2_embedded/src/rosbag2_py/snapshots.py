"""The last messages of a recording, kept in memory until somebody wants them."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple


class Kept(NamedTuple):
    """A message with its topic, and when it was received and published [ns since the epoch]."""

    topic: str
    data: bytes
    received: int
    published: int


class LastMessages:
    """The newest messages, whose bytes are at most so many; older ones are forgotten.

    Args:
        most_bytes: that are kept, greater than 0.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most, self._bytes = most_bytes, 0
        self._messages: deque[Kept] = deque()

    def add(self, message: Kept) -> None:
        """Keep a message, also one that is larger than all that is kept otherwise."""
        self._messages.append(message)
        self._bytes += len(message.data)
        while self._bytes > self._most and len(self._messages) > 1:
            self._bytes -= len(self._messages.popleft().data)

    def take(self) -> list[Kept]:
        """Return what is kept, the oldest first, and keep nothing."""
        taken = list(self._messages)
        self._messages.clear()
        self._bytes = 0
        return taken
