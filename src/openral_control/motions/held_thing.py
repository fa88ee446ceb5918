"""What the fingers hold on the way of a motion, and whether it is lost."""

from __future__ import annotations

from openral_control.motions.arm import MotionArm
from openral_core.types import RobotState

HELD_M = 5e-3
"""[m] by which fingers move at most while they hold something: what they hold gives way, they do not."""
REST_M, REST_S = 1e-3, 0.2
"""[m] by which the opening of fingers at rest changes at most, and [s] for which it then does so."""


class HeldThing:
    """Watches closed fingers from state to state, over all lines of one motion.

    Half-open fingers that nobody told to close, as a policy may leave them, look like fingers that hold something,
    until the motion closes them. So they are watched from their first rest on; before it, only that they come apart
    counts.
    """

    def __init__(self, arm: MotionArm, state: RobotState) -> None:
        """Begin in the state in which fingers that are not open are told to close, or go on closing."""
        self._arm = arm
        self._last_m, self._since_s = state.gripper_opening, state.stamp_s
        self._least_m = state.gripper_opening
        self._held_m: float | None = None
        self._rested = False

    def lost(self, state: RobotState) -> str:
        """Return what tells that the thing is lost; empty: it is not, or nothing was held."""
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
