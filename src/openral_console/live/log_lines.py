"""The newest lines of the log: bounded, whatever the rate at which they come."""

from __future__ import annotations

import threading
from collections import deque

from openral_console.live.views import LogLine

KEPT = 1000
"""Lines that are kept."""


class LogLines:
    """Takes lines in one thread and gives them in others."""

    def __init__(self) -> None:
        self._lines: deque[LogLine] = deque(maxlen=KEPT)
        self._lock = threading.Lock()
        self._number = 0

    def add(self, level: int, clock: str, node: str, text: str) -> None:
        """Take a line; the oldest one goes when there are too many."""
        with self._lock:
            self._number += 1
            self._lines.append(LogLine(self._number, level, clock, node, text))

    @property
    def count(self) -> int:
        """Lines that came, those included that are gone."""
        return self._number

    def newest(self, level: int, limit: int) -> list[LogLine]:
        """Return the newest lines of at least a level, the oldest first."""
        with self._lock:
            lines = list(self._lines)
        chosen: list[LogLine] = []
        for line in reversed(lines):
            if line.level >= level:
                chosen.append(line)
                if len(chosen) == limit:
                    break
        return chosen[::-1]
