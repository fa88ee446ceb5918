"""What is tried after a failed attempt: a ladder, of which every rung changes something and is climbed once.

    go on -> motions -> the object in the hand -> home -> restage above the object -> another skill -> other steps
          -> ask the operator -> give up

An attempt that ran its course and failed is not repeated from where the arm stands: of 69 such repetitions one
succeeded, of 60 that began with a drive to the start pose 18 (MetaWorld's MT10, unseen states). It has not run its
course where progress still rose when its time was up: then it is given as much time again, once (`Rung.GO_ON`). One
that was broken off, because a node died or refused it, proves nothing about the skill and is made again (`Rung.RETRY`).

A mission in the hands of a language model has the first repetition and the last rung only: what lies between is the
model's own choice of the same ways (`Steering`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from openral_reasoner.memory.outcomes import Outcomes
from openral_reasoner.mission.attempt import DirectorConfig
from openral_reasoner.mission.ladder.experience import FIRST
from openral_reasoner.mission.ladder.task_motions import meaning_of, things_of
from openral_reasoner.mission.mission import Mission, Task
from openral_reasoner.mission.verify_gate import Judgement
from openral_reasoner.palette import MOTION, Palette, Skill


class Rung(str, Enum):
    """One step of the ladder; the values are kinds of steps in the mission log."""

    RETRY = "retry"
    GO_ON = "go on"
    """The attempt is taken up where the arm stands, since it was still getting nearer."""
    HOME = "home"
    RESTAGE = "restage"
    OTHER_SKILL = "other skill"
    GRASP = "grasp"
    """A motion takes the object and carries it to where the skill begins, which goes on with it in the hand."""
    MOTIONS = "motions"
    """Motions do the whole task; a measurement, or the reward monitor, says whether they did."""
    DECOMPOSE = "decompose"
    ASK = "question"
    GIVE_UP = "abandoned"


EXPECTED = {
    Rung.MOTIONS: 0.6,
    Rung.GRASP: 0.5,
    Rung.HOME: 0.3,
    Rung.RESTAGE: 0.29,
    Rung.OTHER_SKILL: 0.28,
    Rung.DECOMPOSE: 0.27,
}
"""Share of failed attempts that a rung is taken to rescue before anything was counted; it gives their usual order.
Where a thing is held (MetaWorld's MT10), motions to places known to 3 cm rescued 45 of 68 that home and repetition had
not, and home 18 of 60. Of 23 whose grasp was opened in the lift, and which had begun at the start pose, the thing put
into the hand rescued 12, home and restage none."""
EXPECTED_FIRST = 0.7
"""Share of tasks that the planned skill is taken to solve at its first attempt before anything was counted."""
WAYS = (Rung.HOME, Rung.RESTAGE, Rung.GRASP, Rung.MOTIONS)
"""Rungs that try a task anew with what is here, without a planner or an operator."""
FIRST_WAYS = (Rung.GRASP, Rung.MOTIONS)
"""Ways that can come before the planned attempt; the others only change where it begins."""
MOST_MOTIONS = 2
"""Motions that one task takes; of those that it may need, the slowest are counted."""
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
    worked: Mapping[str, int] = field(default_factory=dict)
    """How often each rung worked before, where the same ways had failed."""


def first_rung(task: Task, around: Surroundings, config: DirectorConfig) -> Rung | None:
    """Return the way in which a task is tried first; None: as it was planned.

    Counts alone can say that something else than the planned skill comes first: that a way worked more often, whatever
    came before it, than the skill's first attempts did. Without counts the skill is expected to work more often than
    any way.
    """
    ways = [way for way in FIRST_WAYS if way.value not in config.left_out]
    costs = {way: way_cost(way, task, around, config) for way in ways}
    possible = [way for way, cost in costs.items() if not isinstance(cost, str) and cost <= around.left_s]
    skill, name = task.planned.skill.name, task.planned.skill_task
    planned = around.outcomes.expected(skill, name, FIRST, EXPECTED_FIRST)
    hoped = {way: around.outcomes.expected(skill, name, way.value, EXPECTED[way]) for way in possible}
    best = max(possible, key=hoped.__getitem__, default=None)
    return best if best is not None and hoped[best] > planned else None


def next_rung(
    task: Task, mission: Mission, around: Surroundings, config: DirectorConfig, judgement: Judgement
) -> Rung:
    """Where a task goes from a failed attempt.

    Args:
        task: it failed; `tries` counts the attempts since the last rung, `climbed` the rungs that were used up.
        mission: holds the task.
        around: what can be used.
        config: the limits.
        judgement: why it failed.
    """
    time_enough = _cost_s(task.planned.skill, config) <= around.left_s
    if judgement.broken_off and task.tries < config.max_attempts and time_enough:
        return Rung.RETRY
    if mission.open_ended:
        return Rung.GIVE_UP
    if judgement.rising and time_enough and Rung.GO_ON.value not in (*task.climbed, *config.left_out):
        return Rung.GO_ON
    rungs = [rung for rung in _possible(task, mission, around, config) if rung.value not in task.climbed]
    if rungs:
        return max(rungs, key=lambda rung: _expected(rung, task, around))
    can_ask = config.ask_patience_s > 0 and Rung.ASK.value not in task.climbed
    return Rung.ASK if can_ask else Rung.GIVE_UP


def _expected(rung: Rung, task: Task, around: Surroundings) -> float:
    """Return the share of successes that is expected of a rung; the planned attempt, where it was not made, begins at
    its start pose as HOME does."""
    skill, name, also = task.planned.skill.name, task.planned.skill_task, around.worked.get(rung.value, 0)
    if rung is Rung.HOME and task.failed and FIRST not in task.failed:
        return around.outcomes.expected(skill, name, FIRST, EXPECTED_FIRST, also)
    return around.outcomes.expected(skill, name, rung.value, EXPECTED[rung], also)


def _possible(task: Task, mission: Mission, around: Surroundings, config: DirectorConfig) -> Sequence[Rung]:
    """The rungs that there is means and time for, in no order."""
    palette, again_s = around.palette, _cost_s(task.planned.skill, config)
    costs = {way: cost for way in WAYS if not isinstance(cost := way_cost(way, task, around, config), str)}
    if len(task.tried) < config.max_skills and (others_ := others(palette, task).skills):
        costs[Rung.OTHER_SKILL] = min(_cost_s(other, config) for other in others_)
    if task.depth < config.max_depth and recoveries(palette).recoveries and not _loops(mission):
        costs[Rung.DECOMPOSE] = again_s
    return [
        rung
        for rung, cost_s in costs.items()
        if cost_s <= around.left_s and rung.value not in config.left_out
    ]


def way_cost(way: Rung, task: Task, around: Surroundings, config: DirectorConfig) -> float | str:
    """Return the time [s] that trying a task in one of `WAYS` may take, or, in words, why there are no means for it."""
    planned, meaning = task.planned, meaning_of(task.planned)
    needed: tuple[str, ...] = {
        Rung.HOME: ("home",),
        Rung.RESTAGE: ("move_to",),
        Rung.GRASP: ("pick_at",),
    }.get(way, meaning.motions)
    motions = [around.palette.motion(name) for name in needed]
    missing = [name for name, motion in zip(needed, motions, strict=True) if motion is None]
    if planned.skill.kind == MOTION:
        return "it is a motion itself"
    if way is not Rung.HOME and not things_of(planned):
        return "its words name none of the skill's objects"
    if way is Rung.GRASP and not meaning.holds:
        return "nothing is held in it"
    if way is Rung.MOTIONS and not meaning.motions:
        return "its words mean no motions that the hand could make: no verb to take, put, press or reach something"
    if missing:
        return f"there is no motion {missing[0]} here"
    if way is not Rung.HOME and not around.can_locate:
        return "nobody here answers where a thing is"
    costs = sorted(_cost_s(motion, config) for motion in motions if motion is not None)
    driven_s = sum(costs[-MOST_MOTIONS:])
    if way in (Rung.GRASP, Rung.MOTIONS) and (home := around.palette.motion("home")) is not None:
        driven_s += _cost_s(home, config) * (
            2 if way is Rung.GRASP else 1
        )  # out of the camera's way, and back
    return driven_s if way is Rung.MOTIONS else driven_s + _cost_s(planned.skill, config)


def why_no_motions(task: Task, around: Surroundings, config: DirectorConfig) -> str:
    """Return why a task that nobody could do is not done by motions either; empty: they were tried."""
    if Rung.MOTIONS.value in (*task.climbed, *config.left_out) or task.planned.skill.kind == MOTION:
        return ""
    cost = way_cost(Rung.MOTIONS, task, around, config)
    return (
        cost if isinstance(cost, str) else f"they may take {cost:.0f} s, and {around.left_s:.0f} s are left"
    )


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
