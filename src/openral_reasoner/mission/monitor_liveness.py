"""Whether the reward monitor still publishes readings. It only reports this; the gate decides what follows."""

from __future__ import annotations


class MonitorWatch:
    """Reports once when the monitor falls silent, and once when it is back. Times are monotonic, [s]."""

    def __init__(self, patience_s: float) -> None:
        """Begin before the first reading.

        Args:
            patience_s: how long a goal may run without a reading.
        """
        self._patience_s = patience_s
        self._since_wall_s: float | None = None
        self._present = False
        self.silent = False
        """Whether readings are overdue."""

    def reading(self, wall_s: float) -> None:
        """Take in that a reading came, of any goal."""
        self._since_wall_s = wall_s

    def news(self, publishers: int, running: bool, wall_s: float) -> str:
        """Return what has changed, in one sentence; empty: nothing.

        Args:
            publishers: how many nodes of the graph publish readings.
            running: whether a goal runs, so that readings are due.
            wall_s: this moment.
        """
        gone = self._present and not publishers
        self._present = self._present or publishers > 0
        if not running or self._since_wall_s is None:
            self._since_wall_s = wall_s
        late = running and self._present and wall_s - self._since_wall_s > self._patience_s
        silent, before = gone or late, self.silent
        self.silent = silent or (before and not running)  # without a goal nobody expects it to speak
        if silent and not before:
            why = "went away" if gone else f"gave no reading for {self._patience_s:.0f} s"
            return f"the reward monitor {why}; nothing can be verified until it is back"
        if before and not self.silent:
            return "the reward monitor is back"
        return ""
