"""Checks a success of the reward monitor by the opening of the fingers.

A task that ends with a thing in the hand is not done where the fingers hold nothing. In pictures an empty hand at the
goal looks much like one that holds the thing; the opening of the fingers is measured.
"""

from __future__ import annotations

from openral_core.stop_conditions import FingerTravel
from openral_reasoner.mission.mission import Task


def contradiction(task: Task, fingers: FingerTravel | None) -> str:
    """Return why a task is not done although the reward monitor calls it done; empty: nothing contradicts it.

    Args:
        task: with the report of its newest goal.
        fingers: opening of the robot's fingers, empty and closed; None: unknown.
    """
    opening_m = task.report.gripper_m if task.report else None
    if fingers is None or opening_m is None or task.planned.leaves != "object":
        return ""
    if fingers.is_between(opening_m):
        return ""
    return (
        f"the reward monitor calls it done, but the fingers, {100 * opening_m:.1f} cm apart, hold nothing, and the task"
        " ends with a thing in the hand"
    )
