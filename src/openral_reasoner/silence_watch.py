"""Who has not been heard for too long. A process that hangs, or died while the graph still names it, says nothing."""

from __future__ import annotations

ASLEEP_S = 1.0
"""[s] between two looks from which on the one who looks was held up itself: what came meanwhile is not yet read."""


class Heartbeats:
    """Times of the last words of each of several speakers. Not thread-safe; times are monotonic, [s]."""

    def __init__(self, patience_s: float) -> None:
        """Begin with nobody.

        Args:
            patience_s: silence that is longer counts.
        """
        self.patience_s = patience_s
        self._heard: dict[str, float] = {}
        self._looked_wall_s: float | None = None

    def beat(self, name: str, wall_s: float) -> None:
        """Somebody said something."""
        self._heard[name] = wall_s

    def forget(self, name: str) -> None:
        """Somebody is not expected to say anything any more."""
        self._heard.pop(name, None)

    def silent(self, wall_s: float) -> set[str]:
        """Return who has been silent for too long; the time in which nobody looked does not count."""
        gap = wall_s - (wall_s if self._looked_wall_s is None else self._looked_wall_s)
        self._looked_wall_s = wall_s
        if gap > ASLEEP_S:
            self._heard = {name: heard + gap for name, heard in self._heard.items()}
        return {name for name, heard in self._heard.items() if wall_s - heard > self.patience_s}
