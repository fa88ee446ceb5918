"""Freshness check: a page's commands count only for a short time, so that no old one moves the arm."""

from __future__ import annotations

LATE_S = 0.15
"""[s] by which a command may be later than the quickest one of its page; a network that stalled delivers what is
older all at once."""


class Freshness:
    """Compares the clock of a page with ours, by the quickest of its messages."""

    def __init__(self) -> None:
        self._offset_s = float("inf")

    def admits(self, sent_s: float, now_s: float) -> bool:
        """Return whether a message is fresh.

        Args:
            sent_s: [s] clock of the page, which never goes back.
            now_s: [s] monotonic, when it came.
        """
        offset_s = now_s - sent_s
        self._offset_s = min(self._offset_s, offset_s)
        return offset_s - self._offset_s <= LATE_S
