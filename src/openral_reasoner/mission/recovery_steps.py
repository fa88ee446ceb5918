"""What is tried after a failed attempt: a ladder with few rungs, each climbed at most as often as a limit says.

    try again -> another skill -> other steps -> ask the operator -> give up

A mission in the hands of a language model has the first and the last rung only: what lies between is the model's
own choice, and `Steering` bounds it.
"""

from __future__ import annotations

from enum import Enum

from openral_reasoner.mission.attempt import DirectorConfig
from openral_reasoner.mission.mission import Mission, Task
from openral_reasoner.palette import Palette


class Rung(str, Enum):
    """One step of the ladder; the values are kinds of steps in the mission log."""

    RETRY = "retry"
    OTHER_SKILL = "other skill"
    DECOMPOSE = "decompose"
    ASK = "question"
    GIVE_UP = "abandoned"


def next_rung(task: Task, mission: Mission, palette: Palette, config: DirectorConfig) -> Rung:
    """Where a task goes from a failed attempt.

    Args:
        task: it failed; `tries` counts the attempts since the last rung, `tried` the skills that failed at it.
        mission: holds the task.
        palette: what may be used now.
        config: the limits.
    """
    if task.tries < config.max_attempts:
        return Rung.RETRY
    if mission.open_ended:
        return Rung.GIVE_UP
    can = {
        Rung.OTHER_SKILL: len(task.tried) < config.max_skills and bool(others(palette, task).skills),
        Rung.DECOMPOSE: task.depth < config.max_depth
        and bool(recoveries(palette).recoveries)
        and not _loops(mission),
        Rung.ASK: config.ask_patience_s > 0,
    }
    return next(
        (rung for rung, possible in can.items() if possible and rung.value not in task.climbed), Rung.GIVE_UP
    )


def others(palette: Palette, task: Task) -> Palette:
    """The palette without the skills that failed at a task, and without playbooks: one skill for one task."""
    return Palette(tuple(skill for skill in palette.skills if skill.name not in task.tried))


def recoveries(palette: Palette) -> Palette:
    """The palette with the playbooks for failures, and no others: other steps for one task."""
    return Palette(palette.skills, recoveries=tuple(book for book in palette.playbooks if book.failures))


def _loops(mission: Mission) -> bool:
    """A loop counts the tasks that it repeats, so none of them may become several."""
    return any(task.planned.until or task.planned.guard for task in mission.tasks)
