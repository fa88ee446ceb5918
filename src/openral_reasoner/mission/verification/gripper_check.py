"""What the fingers say against a task that the reward monitor calls done.

A task that ends with a thing in the hand is not done where the fingers hold nothing. Pictures of a hand that waves at
the goal look much like those of one that brought something there; how far the fingers are apart is measured.
"""

from __future__ import annotations

from openral_core.stop_conditions import FingerTravel
from openral_reasoner.mission.mission import Task


def contradiction(task: Task, fingers: FingerTravel | None) -> str:
    """Return what the fingers say against it that a task is done, as the end of its newest goal tells; empty: nothing.

    Args:
        task: the reward monitor calls it done.
        fingers: how far the robot's fingers go; None: nobody knows.
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
