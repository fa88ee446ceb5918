"""How a goal ended, as the policy node tells it."""

from __future__ import annotations

from dataclasses import dataclass

STOPPED = "STOPPED"
"""Outcome of a goal that its stop conditions or its step budget ended."""


@dataclass(frozen=True)
class GoalReport:
    """How a goal ended: the checked fields of ExecuteSkill's result that a mission uses."""

    outcome: str
    """Name of the outcome: SUCCEEDED, FAILED, DEADLINE, CANCELED, REJECTED, ESTOPPED or STOPPED."""
    check: str
    """Which check ended it."""
    message: str = ""
    stopped_by: str = ""
    """The condition of `stop_when` that fired, or max_steps; empty: neither."""
    steps: int = 0
    """Control steps that the arm followed for it."""
    hand: tuple[float, float, float] | None = None
    """[m] end effector at the end, world frame of the scene; None: nobody knows."""
    gripper_m: float | None = None
    """[m] distance between the fingers at the end; None: nobody knows."""

    @property
    def why(self) -> str:
        """The deciding check and its message."""
        return f"{self.check}: {self.message}".rstrip(": ")

    @property
    def stop(self) -> str:
        """What stopped it, for the mission log; empty: neither a stop condition nor the step budget of the goal."""
        if self.outcome != STOPPED:
            return ""
        return f"stopped by {self.stopped_by or self.check} after {self.steps} steps"
