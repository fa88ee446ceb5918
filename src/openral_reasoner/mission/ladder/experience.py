"""Counts and traces of how tasks were tried in earlier missions, to which this mission adds its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from openral_reasoner.memory.outcomes import Outcomes, outcomes_beside
from openral_reasoner.memory.recovery_traces import Traces, traces_beside
from openral_reasoner.mission.mission import Mission, Task

FIRST = "first"
"""Stands for the attempt as it was planned, beside the rungs of the ladder."""


class Experience:
    """How often each rung worked, and which worked after which failures. Not thread-safe."""

    def __init__(self, outcomes: Outcomes | None = None, traces: Traces | None = None) -> None:
        """Take the files; None: nothing is known or kept."""
        self.outcomes, self._traces = outcomes or Outcomes(), traces or Traces()

    @classmethod
    def beside(cls, memory_file: Path) -> Experience:
        """Return what is kept beside a file of notes."""
        return cls(Outcomes(outcomes_beside(memory_file)), Traces(traces_beside(memory_file)))

    def failed(self, task: Task) -> None:
        """Count a failure of a task by the rung by which it was tried."""
        self.outcomes.add(*_counted(task), success=False)
        task.failed.append(task.way or FIRST)

    def succeeded(self, mission: Mission, task: Task) -> None:
        """Count a verified success of a task, and keep which rungs had failed before."""
        self.outcomes.add(*_counted(task), success=True)
        if failed := _failed_ways(mission, task):
            self._traces.add(_first_skill(task), task.planned.skill_task, failed, task.way or FIRST)

    def worked_before(self, mission: Mission, task: Task) -> Mapping[str, int]:
        """Return how often each rung worked in earlier missions after the same rungs had failed at this task."""
        failed = _failed_ways(mission, task)
        return self._traces.after(_first_skill(task), task.planned.skill_task, failed) if failed else {}


def _failed_ways(mission: Mission, task: Task) -> list[str]:
    """Return the rungs by which a task has failed; where an agent steers, those of its earlier equal tasks, too."""
    if not mission.open_ended:
        return task.failed
    asked = (task.planned.skill.name, task.planned.skill_task)
    same = (t for t in mission.tasks if (t.planned.skill.name, t.planned.skill_task) == asked)
    return [way for each in same for way in each.failed]


def _first_skill(task: Task) -> str:
    return task.tried[0] if task.tried else task.planned.skill.name


def _counted(task: Task) -> tuple[str, str, str]:
    """Return what an attempt is counted under: skill, task, and rung."""
    return task.planned.skill.name, task.planned.skill_task, task.way or FIRST
