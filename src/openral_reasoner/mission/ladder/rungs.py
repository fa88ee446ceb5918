"""What is tried after a failed attempt: a ladder whose rungs each change something, and are each taken once.

    go on -> motions -> the object in the hand -> home -> restage above the object -> another skill -> other steps
          -> ask the operator -> give up

An attempt that ended by its own failure is not repeated from where the arm stands: 1 of 69 such repetitions succeeded,
and 18 of 60 that began with a drive to the start pose (MetaWorld's MT10, unseen states). Where progress was still
rising when the time was up, the attempt is given as much time again, once (`Rung.GO_ON`). An attempt that was broken
off, because a node died or refused it, says nothing about the skill and is repeated (`Rung.RETRY`).

In a mission that an agent steers there are `Rung.RETRY` and `Rung.GIVE_UP` alone; the agent itself chooses among the
rungs between them (`Steering`).
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
    """The attempt goes on from where the arm stands, since progress was still rising."""
    HOME = "home"
    """The attempt is repeated from the start pose of the skill."""
    RESTAGE = "restage"
    """The attempt is repeated from above the task's object."""
    OTHER_SKILL = "other skill"
    """A planner chooses another skill for the task."""
    GRASP = "grasp"
    """A motion takes the object and carries it to where the skill begins, which goes on with it in the hand."""
    MOTIONS = "motions"
    """Motions do the whole task; a measurement, or the reward monitor, says whether they did."""
    DECOMPOSE = "decompose"
    """A planner replaces the task by the steps of a playbook."""
    ASK = "question"
    """The operator decides."""
    GIVE_UP = "abandoned"
    """The task is abandoned, and the mission with it."""


EXPECTED = {
    Rung.MOTIONS: 0.6,
    Rung.GRASP: 0.5,
    Rung.HOME: 0.3,
    Rung.RESTAGE: 0.29,
    Rung.OTHER_SKILL: 0.28,
    Rung.DECOMPOSE: 0.27,
}
"""Share of failed attempts after which a rung is expected to succeed while nothing was counted; it orders the rungs.

Measured on tasks of MetaWorld's MT10 in which a thing is held: motions to places known to 3 cm succeeded after 45 of 68
failures that home and repetition had not solved, and home after 18 of 60. Of 23 attempts that began at the start pose
and whose gripper was opened in the lift, `GRASP` solved 12, home and restage none."""
EXPECTED_FIRST = 0.7
"""Share of tasks that the planned skill is expected to solve at its first attempt while nothing was counted."""
WAYS = (Rung.HOME, Rung.RESTAGE, Rung.GRASP, Rung.MOTIONS)
"""Rungs that need neither a planner nor the operator."""
FIRST_WAYS = (Rung.GRASP, Rung.MOTIONS)
"""Rungs that can replace the first attempt; the other `WAYS` only change where it begins."""
PER_SKILL = tuple(rung.value for rung in (Rung.GO_ON, Rung.HOME, Rung.RESTAGE, Rung.GRASP))
"""Rungs that can be taken once more after another skill has replaced the one that failed."""
MOST_MOTIONS = 2
"""Motions that one task takes at most; the slowest of those that it may need are counted."""
PATIENCE_MOTION_S = 10.0
"""[s] that a motion is expected to take where its skill does not say."""


@dataclass(frozen=True)
class Surroundings:
    """What is available for a rung, besides the task."""

    palette: Palette
    """The skills that may be used now."""
    can_locate: bool
    """Whether the service that locates things is there."""
    left_s: float
    """[s] node clock until the mission's time is up."""
    outcomes: Outcomes
    """Counts of how often each rung worked."""
    worked: Mapping[str, int] = field(default_factory=dict)
    """How often each rung worked in earlier missions after the same rungs had failed."""


def first_rung(task: Task, around: Surroundings, config: DirectorConfig) -> Rung | None:
    """Return the rung by which a task is tried first; None: as it was planned.

    A rung comes first only where it was counted to succeed more often than the first attempts of the planned skill.
    Without counts the planned skill is expected to succeed more often than any rung.
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
    """Return the rung that is taken after a failed attempt.

    Args:
        task: that failed; `tries` counts the attempts since the last rung, `climbed` holds the rungs that were taken.
        mission: of the task.
        around: what is available.
        config: limits and time-outs.
        judgement: of the attempt.
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
    """Return the share of successes, 0..1, that is expected of a rung.

    Where the planned attempt was not made yet, HOME stands for it, since it begins at the same pose.
    """
    skill, name, also = task.planned.skill.name, task.planned.skill_task, around.worked.get(rung.value, 0)
    if rung is Rung.HOME and task.failed and FIRST not in task.failed:
        return around.outcomes.expected(skill, name, FIRST, EXPECTED_FIRST, also)
    return around.outcomes.expected(skill, name, rung.value, EXPECTED[rung], also)


def _possible(task: Task, mission: Mission, around: Surroundings, config: DirectorConfig) -> Sequence[Rung]:
    """Return the rungs for which there are the means and the time, in no order."""
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
    """Return the time [s] that one of `WAYS` may take for a task, or why it is not possible, in words."""
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
    """Return why a task is not done by motions; empty: they were tried, are left out, or the task is a motion."""
    if Rung.MOTIONS.value in (*task.climbed, *config.left_out) or task.planned.skill.kind == MOTION:
        return ""
    cost = way_cost(Rung.MOTIONS, task, around, config)
    return (
        cost if isinstance(cost, str) else f"they may take {cost:.0f} s, and {around.left_s:.0f} s are left"
    )


def _cost_s(skill: Skill, config: DirectorConfig) -> float:
    """Return the time [s] that an attempt with a skill may take."""
    usual_s = PATIENCE_MOTION_S if skill.kind == MOTION else config.default_deadline_s
    return skill.max_execution_s or usual_s


def others(palette: Palette, task: Task) -> Palette:
    """Return the palette of the policies that were not tried at a task yet, without motions and playbooks."""
    tried = {*task.tried, task.planned.skill.name}
    return Palette(tuple(s for s in palette.skills if s.name not in tried and s.kind != MOTION))


def recoveries(palette: Palette) -> Palette:
    """Return the palette with the playbooks for failures alone, which a task can be decomposed by."""
    return Palette(palette.skills, recoveries=tuple(book for book in palette.playbooks if book.failures))


def _loops(mission: Mission) -> bool:
    """Return whether a mission has loops or guards: they count tasks, so none of these may be decomposed."""
    return any(task.planned.until or task.planned.guard for task in mission.tasks)
