"""After "stop": every motion is ended, whoever began it, and it is seen to that it ends."""

from __future__ import annotations

from openral_reasoner.mission.attempt import Command, StopSkills

PERIOD_S = 0.3
"""[s] wall time between two attempts at ending the same goal."""
PATIENCE_S = 10.0
"""[s] wall time after which a goal that the bridge still names is left to itself; its chunks are not endless."""


class Halting:
    """Ends the goal that the bridge executes. Not thread-safe."""

    def __init__(self) -> None:
        self._goal = ""
        self._since_wall_s = self._last_wall_s = 0.0

    def begin(self, active_goal: str, wall_s: float) -> StopSkills:
        """Stop everything.

        Args:
            active_goal: hex UUID of the goal that the bridge executes; empty: none is known.
            wall_s: [s] monotonic.
        """
        self._goal, self._since_wall_s, self._last_wall_s = active_goal, wall_s, wall_s
        return StopSkills()

    def due(self, active_goal: str, wall_s: float) -> list[Command] | None:
        """What is to be done now; None: that goal is executed no more, or nothing helped."""
        if not self._goal or active_goal != self._goal or wall_s - self._since_wall_s > PATIENCE_S:
            self._goal = ""
            return None
        if wall_s - self._last_wall_s < PERIOD_S:
            return []
        self._last_wall_s = wall_s
        return [StopSkills(self._goal)]
