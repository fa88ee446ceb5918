"""The newest lines of the log, of which a bounded number is kept."""

from __future__ import annotations

import threading
from collections import deque

from openral_console.live.views import LogLine

KEPT = 1000
"""Most lines that are kept."""


class LogLines:
    """Keeps the newest lines. One thread adds them, others read."""

    def __init__(self) -> None:
        self._lines: deque[LogLine] = deque(maxlen=KEPT)
        self._lock = threading.Lock()
        self._number = 0

    def add(self, level: int, clock: str, node: str, text: str) -> None:
        """Add a line; beyond `KEPT` lines the oldest is dropped."""
        with self._lock:
            self._number += 1
            self._lines.append(LogLine(self._number, level, clock, node, text))

    @property
    def count(self) -> int:
        """Number of all lines received, dropped ones included."""
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
