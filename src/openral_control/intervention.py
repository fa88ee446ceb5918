"""The state of an intervention, in which an operator controls the arm while the goal of a policy is paused.

The phases are those of interactive imitation learning (HG-DAgger, Kelly et al. 2019, and lerobot's `dagger` strategy):
AUTONOMOUS -> PAUSED -> CORRECTING -> AUTONOMOUS.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class InterventionPhase(Enum):
    """Phase of an intervention."""

    AUTONOMOUS = "autonomous"
    """Policies control the arm."""
    PAUSED = "paused"
    """An operator has taken the arm over, and it holds."""
    CORRECTING = "correcting"
    """An operator moves the arm."""


@dataclass(frozen=True)
class PausedGoal:
    """A goal that is paused during an intervention."""

    goal_id: str
    """Hex UUID."""
    skill: str
    instruction: str


@dataclass
class Intervention:
    """The intervention of one bridge, if there is one. Not thread-safe."""

    operator: str = ""
    """Name of the operator who has taken the arm over; empty: there is no intervention."""
    goal_id: str = ""
    """Hex UUID of the goal of the operator's chunks; empty: the operator sends none."""
    waits: PausedGoal | None = None
    """The goal that was interrupted, or whose chunks came during the intervention."""
    is_left: bool = False
    """Whether the operator's goal has ended although the arm was not given back."""

    @property
    def is_on(self) -> bool:
        """Whether an operator has taken the arm over."""
        return bool(self.operator)

    def phase(self, active_goal: str) -> InterventionPhase:
        """Return the phase, given the active goal (hex UUID; empty: none)."""
        if not self.is_on:
            return InterventionPhase.AUTONOMOUS
        return (
            InterventionPhase.CORRECTING
            if active_goal and active_goal == self.goal_id
            else InterventionPhase.PAUSED
        )

    def commander(self, active_goal: str) -> str:
        """Return who commands the arm, as in `openral/msg/ControlStatus`: "operator", "policy" or "" for nobody."""
        if self.is_on:
            return "operator"
        return "policy" if active_goal else ""

    def keeps_out(self, goal_id: str) -> bool:
        """Return whether chunks of a goal are refused because of the intervention."""
        return self.is_on and goal_id != self.goal_id

    def begin(self, operator: str, goal_id: str, waits: PausedGoal | None) -> None:
        """Begin the intervention of an operator, or change to another one; a goal that is paused already stays so."""
        self.operator, self.goal_id, self.is_left = operator, goal_id, False
        self.waits = waits or self.waits

    def leave(self) -> None:
        """Note that the operator's goal has ended; a paused goal stays paused until the arm is given back."""
        self.goal_id, self.is_left = "", True

    def end(self) -> PausedGoal | None:
        """End the intervention; return the paused goal, if there is one."""
        waits, self.operator, self.goal_id, self.waits, self.is_left = self.waits, "", "", None, False
        return waits
