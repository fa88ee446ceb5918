"""Who has the arm: the policies, or an operator who has taken it over while their goals wait.

The phases are those of interactive imitation learning (HG-DAgger, Kelly et al. 2019, and lerobot's `dagger` strategy):
AUTONOMOUS -> PAUSED -> CORRECTING -> AUTONOMOUS.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class InterventionPhase(Enum):
    """What an intervention is at."""

    AUTONOMOUS = "autonomous"
    """Policies have the arm."""
    PAUSED = "paused"
    """An operator has the arm, and it holds."""
    CORRECTING = "correcting"
    """An operator moves the arm."""


@dataclass(frozen=True)
class PausedGoal:
    """A goal that waits for the arm."""

    goal_id: str
    """Hex UUID."""
    skill: str
    instruction: str


@dataclass
class Intervention:
    """The state of one bridge. Not safe for several threads."""

    operator: str = ""
    """Who has the arm, in words; empty: the policies."""
    goal_id: str = ""
    """Hex UUID under which the operator's chunks come; empty: nobody steers."""
    waits: PausedGoal | None = None
    """The goal that was broken off, or that came meanwhile."""
    is_left: bool = False
    """Whoever steered is gone without giving the arm back."""

    @property
    def is_on(self) -> bool:
        """Whether an operator has the arm."""
        return bool(self.operator)

    def phase(self, active_goal: str) -> InterventionPhase:
        """Return the phase, by the goal whose chunk was accepted last (hex UUID, empty: none)."""
        if not self.is_on:
            return InterventionPhase.AUTONOMOUS
        return (
            InterventionPhase.CORRECTING
            if active_goal and active_goal == self.goal_id
            else InterventionPhase.PAUSED
        )

    def commander(self, active_goal: str) -> str:
        """Return who has the arm, as `openral/msg/ControlStatus` names it: operator, policy or nobody (empty)."""
        if self.is_on:
            return "operator"
        return "policy" if active_goal else ""

    def keeps_out(self, goal_id: str) -> bool:
        """Whether chunks of a goal are refused because an operator has the arm."""
        return self.is_on and goal_id != self.goal_id

    def begin(self, operator: str, goal_id: str, waits: PausedGoal | None) -> None:
        """Give the arm to an operator; a goal that waits already goes on waiting."""
        self.operator, self.goal_id, self.is_left = operator, goal_id, False
        self.waits = waits or self.waits

    def leave(self) -> None:
        """Whoever steered is gone; the goal that waits goes on waiting, until somebody gives the arm back."""
        self.goal_id, self.is_left = "", True

    def end(self) -> PausedGoal | None:
        """Give the arm back to the policies; return the goal that waited."""
        waits, self.operator, self.goal_id, self.waits, self.is_left = self.waits, "", "", None, False
        return waits
