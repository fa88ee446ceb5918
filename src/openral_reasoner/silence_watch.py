"""Heartbeats of processes: which were not heard for too long, because they hang, or died and are still in the graph."""

from __future__ import annotations

ASLEEP_S = 1.0
"""[s] between two calls of `silent` above which this process was itself held up, and has heartbeats still to read."""


class Heartbeats:
    """The times of the last heartbeats of several processes. Not thread-safe; times are monotonic, [s]."""

    def __init__(self, patience_s: float) -> None:
        """Begin without a process.

        Args:
            patience_s: a process counts as silent after this time without a heartbeat.
        """
        self.patience_s = patience_s
        self._heard: dict[str, float] = {}
        self._looked_wall_s: float | None = None

    def beat(self, name: str, wall_s: float) -> None:
        """Take in a heartbeat."""
        self._heard[name] = wall_s

    def forget(self, name: str) -> None:
        """Expect no heartbeat of a process any more."""
        self._heard.pop(name, None)

    def silent(self, wall_s: float) -> set[str]:
        """Return the names of silent processes; a time in which this process was held up does not count as silence."""
        gap = wall_s - (wall_s if self._looked_wall_s is None else self._looked_wall_s)
        self._looked_wall_s = wall_s
        if gap > ASLEEP_S:
            self._heard = {name: heard + gap for name, heard in self._heard.items()}
        return {name for name, heard in self._heard.items() if wall_s - heard > self.patience_s}
