"""Stops every motion, whoever began it, and repeats the stop until the bridge no longer executes the goal."""

from __future__ import annotations

from openral_reasoner.mission.attempt import Command, StopSkills

PERIOD_S = 0.3
"""[s] wall time between two stops of the same goal."""
PATIENCE_S = 10.0
"""[s] wall time after which a goal is stopped no more, although the bridge still executes it."""


class Halting:
    """Stops the goal that the bridge executes. Not thread-safe."""

    def __init__(self) -> None:
        self._goal = ""
        self._since_wall_s = self._last_wall_s = 0.0

    def begin(self, active_goal: str, wall_s: float) -> StopSkills:
        """Return the command that stops everything, and remember the goal that is to end.

        Args:
            active_goal: hex UUID of the goal that the bridge executes; empty: none is known.
            wall_s: [s] monotonic.
        """
        self._goal, self._since_wall_s, self._last_wall_s = active_goal, wall_s, wall_s
        return StopSkills()

    def due(self, active_goal: str, wall_s: float) -> list[Command] | None:
        """Return the commands that stop the goal once more.

        Args:
            active_goal: hex UUID of the goal that the bridge executes now; empty: none.
            wall_s: [s] monotonic.

        Returns:
            The commands, none before the next period; None: the goal has ended, or `PATIENCE_S` are over.
        """
        if not self._goal or active_goal != self._goal or wall_s - self._since_wall_s > PATIENCE_S:
            self._goal = ""
            return None
        if wall_s - self._last_wall_s < PERIOD_S:
            return []
        self._last_wall_s = wall_s
        return [StopSkills(self._goal)]
