"""Monitor of the object that the fingers hold during a motion."""

from __future__ import annotations

from openral_control.motions.arm import MotionArm
from openral_core.types import RobotState

HELD_M = 5e-3
"""[m] largest change of the opening while fingers hold something, whose compliance allows some."""
REST_M, REST_S = 1e-3, 0.2
"""[m] largest change of the opening of fingers at rest, and [s] time for which it must stay within it."""


class HeldThing:
    """Detects from the opening of closed fingers that they lose what they hold, over all lines of one motion.

    Half-open fingers that were not closed on anything, as a policy may leave them, cannot be told from fingers that
    hold something until the motion closes them. So any change of the opening counts only once they have come to rest;
    before that, only an increase counts.
    """

    def __init__(self, arm: MotionArm, state: RobotState) -> None:
        """Begin in the state in which fingers that are not open are commanded to close."""
        self._arm = arm
        self._last_m, self._since_s = state.gripper_opening, state.stamp_s
        self._least_m = state.gripper_opening
        self._held_m: float | None = None
        self._rested = False

    def lost(self, state: RobotState) -> str:
        """Return a message if the held object is lost in a new state; empty: it is not, or nothing was held."""
        now_m = state.gripper_opening
        if not self._rested:
            if abs(now_m - self._last_m) > REST_M:
                self._last_m, self._since_s = now_m, state.stamp_s
            self._least_m = min(self._least_m, now_m)
            self._rested = state.stamp_s - self._since_s >= REST_S
            if self._rested and self._arm.holds_something(now_m):
                self._held_m = now_m
            before_m = self._least_m
            came_apart = now_m - before_m > HELD_M
        else:
            before_m = self._held_m if self._held_m is not None else now_m
            came_apart = abs(now_m - before_m) > HELD_M
        if not came_apart:
            return ""
        apart, then = f"{1e2 * now_m:.1f} cm", f"{1e2 * before_m:.1f} cm"
        return f"the fingers are {apart} apart, and were {then} before: what they held is lost"
