"""What comes before an attempt, or in its place, by the way in which a task is tried: looks for things, and motions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from openral_reasoner.mission.attempt import DirectorConfig
from openral_reasoner.mission.ladder.rungs import Rung
from openral_reasoner.mission.ladder.task_motions import Verb, meaning_of, things_of
from openral_reasoner.mission.mission import Task
from openral_reasoner.palette import MOTION, Palette, Skill

BRISK_M_S = 0.5
"""[m/s] speed of the hand on its way to a start; the envelope and the arm may allow less."""
LIFT_M = 0.15
"""[m] that a thing is lifted which is to be taken."""
CARRY_M = 0.1
"""[m] that a thing is lifted before the skill goes on, or before it is put down elsewhere."""
ABOVE_PLACE_M = 0.02
"""[m] above a place at which the fingers let go."""
APPROACH_M = 0.05
"""[m] above that from which the hand comes down with it."""
ABOVE_BUTTON_M = 0.06
"""[m] above a thing from which it is pressed."""
PRESS_M = 0.05
"""[m] that it is pressed at most, counted from where it was seen."""

Point = tuple[float, float, float]
"""[m] in the world frame of the scene."""
Points = Mapping[str, Point]
"""Where things were found, by the words that they were looked for with."""


@dataclass(frozen=True)
class Find:
    """A look for a thing."""

    words: str


@dataclass(frozen=True)
class Drive:
    """A motion, and what for."""

    motion: Skill
    params: Callable[[Points], dict[str, Any]]
    why: str
    presses: bool = False
    """It is meant to be stopped by what it presses: where it ended says nothing."""


Step = Find | Drive


def steps_of(task: Task, palette: Palette, config: DirectorConfig) -> Sequence[Step]:
    """Return what comes before the next attempt at a task, or, where `is_all` says so, in its place.

    Things are looked for before anything moves, so that a way that is not possible changes nothing.
    """
    if task.way == Rung.RESTAGE.value:
        return _above(task, palette, config)
    if task.way == Rung.GRASP.value:
        thing = meaning_of(task.planned).thing
        return [Find(thing), _pick(palette, thing, CARRY_M)]
    if task.way == Rung.MOTIONS.value:
        return _motions(task, palette)
    return _to_start(task, palette)


def is_all(task: Task) -> bool:
    """Whether its motions take the place of the attempt."""
    return task.way == Rung.MOTIONS.value


def needs_its_steps(task: Task) -> bool:
    """Whether the way is nothing without them: the attempt would be the one that failed before."""
    return task.way in (Rung.RESTAGE.value, Rung.GRASP.value, Rung.MOTIONS.value)


def _to_start(task: Task, palette: Palette) -> list[Step]:
    """The hand goes to where the skill begins the task."""
    skill, home = task.planned.skill, palette.motion("home")
    start = skill.start_of(task.planned.skill_task)
    if skill.kind == MOTION or home is None or (start is None and task.way != Rung.HOME.value):
        return []
    params: dict[str, Any] = {"speed_m_s": BRISK_M_S}
    if task.way:
        params["gripper"] = "open"  # what the failed attempt holds is let go
    if start is not None:
        params |= {"position": list(start.position), "tolerance_m": min(max(start.tolerance_m, 0.003), 0.1)}
    where = "home" if start is None else f"to where {skill.name} begins"
    return [Drive(home, lambda points: params, f"drives the hand {where}")]


def _above(task: Task, palette: Palette, config: DirectorConfig) -> list[Step]:
    """The hand goes above the object that the words name first."""
    thing, height_m = things_of(task.planned)[0], config.stage_height_m

    def params(points: Points) -> dict[str, Any]:
        above = _at(points, thing, height_m)
        return {"position": above, "clearance_m": 0.05, "gripper": "open", "speed_m_s": BRISK_M_S}

    return [Find(thing), Drive(_of(palette, "move_to"), params, f"brings the hand above {thing}")]


def _motions(task: Task, palette: Palette) -> list[Step]:
    """The whole task as motions."""
    meaning = meaning_of(task.planned)
    thing, place = meaning.thing, meaning.place
    if meaning.verb is Verb.TAKE:
        return [Find(thing), _pick(palette, thing, LIFT_M)]
    if meaning.verb is Verb.PUT:
        put = Drive(
            _of(palette, "place_at"),
            lambda points: {
                "point": _at(points, place, ABOVE_PLACE_M),
                "approach_m": APPROACH_M,
                "speed_m_s": BRISK_M_S,
            },
            f"puts it at {place}",
        )
        return [Find(thing), Find(place), _pick(palette, thing, CARRY_M), put]
    if meaning.verb is Verb.PRESS:
        return [Find(thing), *_press(palette, thing)]
    reach = Drive(
        _of(palette, "move_to"),
        lambda points: {"position": _at(points, thing), "clearance_m": 0.05},
        f"brings the hand to {thing}",
    )
    return [Find(thing), reach]


def _pick(palette: Palette, thing: str, lift_m: float) -> Drive:
    return Drive(
        _of(palette, "pick_at"),
        lambda points: {"point": _at(points, thing), "lift_m": lift_m, "speed_m_s": BRISK_M_S},
        f"takes {thing}",
    )


def _press(palette: Palette, thing: str) -> list[Step]:
    closed = {"gripper": "closed"}
    above = Drive(
        _of(palette, "move_to"),
        lambda points: {"position": _at(points, thing, ABOVE_BUTTON_M), "clearance_m": 0.05, **closed},
        f"brings the closed fingers above {thing}",
    )
    down = Drive(
        _of(palette, "nudge"),
        lambda points: {"direction": "-z", "distance_m": ABOVE_BUTTON_M + PRESS_M, **closed},
        f"presses {thing}",
        presses=True,
    )
    return [above, down]


def _at(points: Points, thing: str, above_m: float = 0.0) -> list[float]:
    x, y, z = points[thing]
    return [round(x, 4), round(y, 4), round(z + above_m, 4)]


def _of(palette: Palette, name: str) -> Skill:
    """Return a motion that `rungs` found to be there.

    Raises:
        LookupError: it is gone since.
    """
    motion = palette.motion(name)
    if motion is None:
        raise LookupError(f"the motion {name} is not there any more")
    return motion
