"""What is tried after a failed attempt: a ladder, of which every rung changes something and is climbed once.

    home -> restage above the object -> another skill -> other steps -> ask the operator -> give up

An attempt that ran its course and failed is never repeated from where the arm stands: of 69 such repetitions one
succeeded, of 60 that began with a drive to the start pose 18 (MetaWorld's MT10, unseen states). One that was broken
off, because a node died or refused it, proves nothing about the skill and is made again (`Rung.RETRY`).

A mission in the hands of a language model has the first repetition and the last rung only: what lies between is the
model's own choice, and `Steering` bounds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from openral_reasoner.memory.outcomes import Outcomes
from openral_reasoner.mission.attempt import DirectorConfig
from openral_reasoner.mission.mission import Mission, Task
from openral_reasoner.mission.preparation import object_of
from openral_reasoner.palette import MOTION, Palette, Skill


class Rung(str, Enum):
    """One step of the ladder; the values are kinds of steps in the mission log."""

    RETRY = "retry"
    HOME = "home"
    RESTAGE = "restage"
    OTHER_SKILL = "other skill"
    DECOMPOSE = "decompose"
    ASK = "question"
    GIVE_UP = "abandoned"


EXPECTED = {Rung.HOME: 0.3, Rung.RESTAGE: 0.29, Rung.OTHER_SKILL: 0.28, Rung.DECOMPOSE: 0.27}
"""Share of failed attempts that a rung is taken to rescue before anything was counted; it gives their usual order."""
PATIENCE_MOTION_S = 10.0
"""[s] that a motion is taken to need where its skill does not say."""


@dataclass(frozen=True)
class Surroundings:
    """What a rung needs besides the task."""

    palette: Palette
    """What may be used now."""
    can_locate: bool
    """Somebody answers where a thing is."""
    left_s: float
    """[s] node clock until the mission's time is up."""
    outcomes: Outcomes
    """What the rungs were worth before."""


def next_rung(
    task: Task, mission: Mission, around: Surroundings, config: DirectorConfig, *, broken_off: bool
) -> Rung:
    """Where a task goes from a failed attempt.

    Args:
        task: it failed; `tries` counts the attempts since the last rung, `climbed` the rungs that were used up.
        mission: holds the task.
        around: what can be used.
        config: the limits.
        broken_off: the attempt was ended by something else than its own course.
    """
    if (
        broken_off
        and task.tries < config.max_attempts
        and _cost_s(task.planned.skill, config) <= around.left_s
    ):
        return Rung.RETRY
    if mission.open_ended:
        return Rung.GIVE_UP
    rungs = [rung for rung in _possible(task, mission, around, config) if rung.value not in task.climbed]
    skill, name = task.planned.skill.name, task.planned.skill_task
    rungs.sort(key=lambda rung: -around.outcomes.expected(skill, name, rung.value, EXPECTED[rung]))
    if rungs:
        return rungs[0]
    can_ask = config.ask_patience_s > 0 and Rung.ASK.value not in task.climbed
    return Rung.ASK if can_ask else Rung.GIVE_UP


def _possible(task: Task, mission: Mission, around: Surroundings, config: DirectorConfig) -> Sequence[Rung]:
    """The rungs that there is means and time for, in no order."""
    palette, skill = around.palette, task.planned.skill
    again_s = _cost_s(skill, config)
    home, move_to = palette.motion("home"), palette.motion("move_to")
    costs = {}
    if home is not None and skill.kind != MOTION:
        costs[Rung.HOME] = _cost_s(home, config) + again_s
    if move_to is not None and around.can_locate and object_of(task.planned):
        costs[Rung.RESTAGE] = _cost_s(move_to, config) + again_s
    if len(task.tried) < config.max_skills and (others_ := others(palette, task).skills):
        costs[Rung.OTHER_SKILL] = min(_cost_s(other, config) for other in others_)
    if task.depth < config.max_depth and recoveries(palette).recoveries and not _loops(mission):
        costs[Rung.DECOMPOSE] = again_s
    return [rung for rung, cost_s in costs.items() if cost_s <= around.left_s]


def _cost_s(skill: Skill, config: DirectorConfig) -> float:
    """[s] that an attempt with a skill may take."""
    usual_s = PATIENCE_MOTION_S if skill.kind == MOTION else config.default_deadline_s
    return skill.max_execution_s or usual_s


def others(palette: Palette, task: Task) -> Palette:
    """The policies that have not failed at a task, without playbooks: one skill for one task."""
    tried = {*task.tried, task.planned.skill.name}
    return Palette(tuple(s for s in palette.skills if s.name not in tried and s.kind != MOTION))


def recoveries(palette: Palette) -> Palette:
    """The palette with the playbooks for failures, and no others: other steps for one task."""
    return Palette(palette.skills, recoveries=tuple(book for book in palette.playbooks if book.failures))


def _loops(mission: Mission) -> bool:
    """A loop counts the tasks that it repeats, so none of them may become several."""
    return any(task.planned.until or task.planned.guard for task in mission.tasks)
