"""Planner of a benchmark episode: the instruction is one known task, since understanding it is not measured."""

from __future__ import annotations

from openral_reasoner.palette import MOTION, Palette, Skill
from openral_reasoner.planner import CannotDo, Plan, PlannedTask, Proposal


class OneTask:
    """Plans the task with the only policy of the palette."""

    def __init__(self, task: str, instruction: str) -> None:
        """Take the task's id, as the simulator knows it, and its words."""
        self._task, self._instruction = task, instruction

    def plan(self, sentence: str, palette: Palette) -> Proposal:
        """Return the plan; without a policy in the palette there is none."""
        policies = [skill for skill in palette.skills if skill.kind != MOTION]
        if not policies:
            return CannotDo("no other skill does it", ())
        return Plan((task_of(policies[0], self._task, self._instruction),))


def task_of(skill: Skill, task: str, instruction: str) -> PlannedTask:
    """Return a planned task. `skill` does it, or is the one whose examples define the task that motions do."""
    return PlannedTask(instruction, skill, task, instruction, 1.0)
