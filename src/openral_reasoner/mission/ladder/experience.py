"""What earlier missions taught about ways to try a task, and what this one adds: counts and traces."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from openral_reasoner.memory.outcomes import Outcomes, outcomes_beside
from openral_reasoner.memory.recovery_traces import Traces, traces_beside
from openral_reasoner.mission.mission import Mission, Task

FIRST = "first"
"""The way of the attempt that was planned; the others are rungs of the ladder."""


class Experience:
    """Counts of what ways were worth, and traces of what worked after which failures. Not thread-safe."""

    def __init__(self, outcomes: Outcomes | None = None, traces: Traces | None = None) -> None:
        """Take the files; None: nothing is known or kept."""
        self.outcomes, self._traces = outcomes or Outcomes(), traces or Traces()

    @classmethod
    def beside(cls, memory_file: Path) -> Experience:
        """Return what is kept beside a file of notes."""
        return cls(Outcomes(outcomes_beside(memory_file)), Traces(traces_beside(memory_file)))

    def failed(self, task: Task) -> None:
        """Take down that a task failed in the way in which it was tried."""
        self.outcomes.add(*_counted(task), success=False)
        task.failed.append(task.way or FIRST)

    def succeeded(self, mission: Mission, task: Task) -> None:
        """Take down that a task was verified, and what had failed before."""
        self.outcomes.add(*_counted(task), success=True)
        if failed := _failed_ways(mission, task):
            self._traces.add(_first_skill(task), task.planned.skill_task, failed, task.way or FIRST)

    def worked_before(self, mission: Mission, task: Task) -> Mapping[str, int]:
        """Return how often each way worked in earlier missions where the same ways had failed at a task as now."""
        failed = _failed_ways(mission, task)
        return self._traces.after(_first_skill(task), task.planned.skill_task, failed) if failed else {}


def _failed_ways(mission: Mission, task: Task) -> list[str]:
    """Return the ways in which a task has failed, those of an agent's earlier tries among them."""
    if not mission.open_ended:
        return task.failed
    asked = (task.planned.skill.name, task.planned.skill_task)
    same = (t for t in mission.tasks if (t.planned.skill.name, t.planned.skill_task) == asked)
    return [way for each in same for way in each.failed]


def _first_skill(task: Task) -> str:
    return task.tried[0] if task.tried else task.planned.skill.name


def _counted(task: Task) -> tuple[str, str, str]:
    """Return what an attempt is counted under: skill, task, and the way of trying."""
    return task.planned.skill.name, task.planned.skill_task, task.way or FIRST
