"""Freshness check: a page's commands count only for a short time, so that no old one moves the arm."""

from __future__ import annotations

LATE_S = 0.15
"""[s] by which a command may be later than the quickest one of its page; a network that stalled delivers what is
older all at once."""
DRIFT = 5e-4
"""Most [s] by which the clocks of two machines part in a second. Quartzes part by 1e-4 and less, which without this
makes every message of a page late within the hour."""


class Freshness:
    """Compares the clock of a page with ours, by the quickest of its messages."""

    def __init__(self) -> None:
        self._offset_s = float("inf")
        self._heard_s = 0.0

    def admits(self, sent_s: float, now_s: float) -> bool:
        """Return whether a message is fresh.

        Args:
            sent_s: [s] clock of the page, which never goes back.
            now_s: [s] monotonic, when it came.
        """
        offset_s = now_s - sent_s
        self._offset_s = min(self._offset_s + DRIFT * (now_s - self._heard_s), offset_s)
        self._heard_s = now_s
        return offset_s - self._offset_s <= LATE_S
