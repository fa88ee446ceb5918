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
from openral_reasoner.planner import PlannedTask

BRISK_M_S = 0.5
"""[m/s] speed of the hand on its way to a start; the envelope and the arm may allow less."""
ROUGHLY_M = 0.02
"""[m] from home where a hand is that only gets out of the picture; it need not come to rest."""
LIFT_M = 0.15
"""[m] that a thing is lifted which is to be taken."""
CARRY_M = 0.1
"""[m] that a thing is lifted before the skill goes on, or before it is put down elsewhere."""
STOPPED_ABOVE_M = 0.055
"""[m] above a thing at which a hand that comes no lower still closes its fingers. Over the puck of MetaWorld the table
stops it 3 cm above, the table's rim 4 cm, and the locator sees the puck up to 1.3 cm too low."""
ABOVE_PLACE_M = 0.02
"""[m] above a place at which the hand is to be: what it holds hangs a little lower."""
HELD_WITHIN_M = 0.015
"""[m] from there at which a thing is held: at the end of its reach the hand of MetaWorld stands 1 cm short."""
APPROACH_M = 0.05
"""[m] above that from which the hand comes down with it."""
IN_THE_AIR_M = 0.05
"""[m] above where a thing lay from which a place is taken to be in the air."""
ABOVE_BUTTON_M = 0.06
"""[m] above a thing from which it is pressed."""
PRESS_M = 0.05
"""[m] that it is pressed at most, counted from where it was seen."""

LOOK_HIGHER_M = 0.2
"""[m] that the hand is raised by where a thing is not seen. In MetaWorld the hand at home hides a strip behind it, and
of sixty pucks outside the range of training three; from here all three are seen."""

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
    params: Mapping[str, Any]
    why: str
    presses: bool = False
    """It is meant to be stopped by what it presses: where it ended says nothing."""
    takes: bool = False
    """It takes a thing into the hand, and ends with it there."""
    carries: bool = False
    """It begins and ends with a thing in the hand."""
    looks: bool = False
    """It takes the hand to where it hides other things than before; how near it gets does not matter."""


MakeDrive = Callable[[Points], Drive]
"""The motion, once the things are found that were looked for before it."""
Step = Find | MakeDrive


def steps_of(task: Task, palette: Palette, config: DirectorConfig) -> Sequence[Step]:
    """Return what comes before the next attempt at a task, or, where `is_all` says so, in its place.

    Before a thing is looked for that motions shall take, the hand goes about home, if it can, so that it does not stand
    before it; nothing else moves before all things are found.
    """
    if task.way == Rung.GO_ON.value:
        return []
    if task.way == Rung.RESTAGE.value:
        return _above(task, palette, config)
    if task.way == Rung.GRASP.value:
        thing = meaning_of(task.planned).thing
        carry = _to_start(task, palette, carries=True)
        return [*_to_start(task, palette, ROUGHLY_M), Find(thing), _pick(palette, thing, CARRY_M), *carry]
    if task.way == Rung.MOTIONS.value:
        return [*_to_start(task, palette, ROUGHLY_M), *motion_steps(task.planned, palette)]
    return _to_start(task, palette)


def look_higher(task: Task, palette: Palette, thing: str) -> Step | None:
    """Return the motion after which a thing is looked for once more that is not seen; None: there is no such motion."""
    hand, home = task.report.hand if task.report else None, palette.motion("home")
    if hand is None or home is None:
        return None
    return _rise(
        home, hand, hand[2] + LOOK_HIGHER_M, f"is raised, since the {thing} may be behind it", "keep"
    )


def steps_anew(steps: Sequence[Step], task: Task, palette: Palette) -> tuple[Sequence[Step], str]:
    """Return what is done once a grasp has failed or was lost, and the thing that has to be looked for anew.

    The hand stands about where the thing is. It is opened and raised on the spot, no higher than where the skill
    begins: so it hides other parts of the picture than from home, and is sooner at the thing again. Places have not
    moved.

    Args:
        steps: the whole preparation, of which the grasp was one.
        task: its report says where the hand is.
        palette: of the motions.
    """
    thing, home = meaning_of(task.planned).thing, palette.motion("home")
    hand, start = (
        task.report.hand if task.report else None,
        task.planned.skill.start_of(task.planned.skill_task),
    )
    if hand is None or home is None or start is None:
        return steps, thing
    rest = [step for step in steps if not isinstance(step, Find) or step.words == thing]
    first = next(number for number, step in enumerate(rest) if isinstance(step, Find))
    up = _rise(
        home, hand, max(hand[2], start.position[2]), f"raises the hand to look for the {thing}", "open"
    )
    return [up, *rest[first:]], thing


def _rise(home: Skill, hand: Point, height_m: float, why: str, fingers: str) -> Step:
    position = [round(value, 4) for value in (hand[0], hand[1], height_m)]
    how = {"tolerance_m": ROUGHLY_M, "clearance_m": 0.0, "speed_m_s": BRISK_M_S, "gripper": fingers}
    drive = Drive(home, {"position": position, **how}, why, looks=True)
    return lambda points: drive


def is_all(task: Task) -> bool:
    """Whether its motions take the place of the attempt."""
    return task.way == Rung.MOTIONS.value


def needs_its_steps(task: Task) -> bool:
    """Whether the way is nothing without them: the attempt would be the one that failed before."""
    return task.way in (Rung.RESTAGE.value, Rung.GRASP.value, Rung.MOTIONS.value)


def _to_start(task: Task, palette: Palette, within_m: float = 0.0, *, carries: bool = False) -> list[Step]:
    """The hand goes to where the skill begins the task, or at least `within_m` [m] of it; after a failure it lets go
    what it holds, or carries it."""
    skill, home = task.planned.skill, palette.motion("home")
    start = skill.start_of(task.planned.skill_task)
    if skill.kind == MOTION or home is None or (start is None and not task.way):
        return []
    params: dict[str, Any] = {} if carries else {"speed_m_s": BRISK_M_S}
    if task.way:
        params["gripper"] = "keep" if carries else "open"
    if start is not None:
        params |= {
            "position": list(start.position),
            "tolerance_m": min(max(start.tolerance_m, within_m, 0.003), 0.1),
        }
    where = "home" if start is None else f"to where {skill.name} begins"
    drive = Drive(home, params, f"{'carries it' if carries else 'drives the hand'} {where}", carries=carries)
    return [lambda points: drive]


def _above(task: Task, palette: Palette, config: DirectorConfig) -> list[Step]:
    """The hand goes above the object that the words name first."""
    thing, move_to = things_of(task.planned)[0], _of(palette, "move_to")

    def above(points: Points) -> Drive:
        position = _at(points, thing, config.stage_height_m)
        params = {"position": position, "clearance_m": 0.05, "gripper": "open", "speed_m_s": BRISK_M_S}
        return Drive(move_to, params, f"brings the hand above {thing}")

    return [Find(thing), above]


def motion_steps(planned: PlannedTask, palette: Palette) -> Sequence[Step]:
    """Return a whole task as motions, those of `meaning_of`; empty: its words mean none.

    Raises:
        LookupError: a motion that it takes is not in the palette.
    """
    meaning = meaning_of(planned)
    thing, place = meaning.thing, meaning.place
    if meaning.verb is Verb.TAKE:
        return [Find(thing), _pick(palette, thing, LIFT_M)]
    if meaning.verb is Verb.PUT:
        return [Find(thing), Find(place), _pick(palette, thing, CARRY_M), _put(palette, planned, place)]
    if meaning.verb is Verb.PRESS:
        return [Find(thing), *_press(palette, thing)]
    if meaning.verb is Verb.REACH:
        move_to = _of(palette, "move_to")
        why = f"brings the hand to {thing}"
        return [
            Find(thing),
            lambda points: Drive(move_to, {"position": _at(points, thing), "clearance_m": 0.05}, why),
        ]
    return []


def _pick(palette: Palette, thing: str, lift_m: float) -> MakeDrive:
    pick_at = _of(palette, "pick_at")
    how = {"lift_m": lift_m, "stopped_above_m": STOPPED_ABOVE_M, "speed_m_s": BRISK_M_S}
    why = f"takes the {thing}"
    return lambda points: Drive(pick_at, {"point": _at(points, thing), **how}, why, takes=True)


def _put(palette: Palette, planned: PlannedTask, place: str) -> MakeDrive:
    """Let the thing go at a place; hold it there if the task ends so, or if the place is in the air."""
    place_at, move_to = _of(palette, "place_at"), _of(palette, "move_to")
    thing, holds = meaning_of(planned).thing, planned.leaves == "object"

    def put(points: Points) -> Drive:
        point = _at(points, place, ABOVE_PLACE_M)
        if holds or points[place][2] - points[thing][2] > IN_THE_AIR_M:
            held = {"position": point, "speed_m_s": BRISK_M_S, "tolerance_m": HELD_WITHIN_M}
            return Drive(move_to, held, f"holds it at the {place}", carries=True)
        down = {"approach_m": APPROACH_M, "speed_m_s": BRISK_M_S}
        return Drive(place_at, {"point": point, **down}, f"puts it at the {place}")

    return put


def _press(palette: Palette, thing: str) -> list[Step]:
    move_to, nudge = _of(palette, "move_to"), _of(palette, "nudge")
    down = {"direction": "-z", "distance_m": round(ABOVE_BUTTON_M + PRESS_M, 3), "gripper": "closed"}

    def above(points: Points) -> Drive:
        position = _at(points, thing, ABOVE_BUTTON_M)
        params = {"position": position, "clearance_m": 0.05, "gripper": "closed"}
        return Drive(move_to, params, f"brings the closed fingers above the {thing}")

    return [above, lambda points: Drive(nudge, down, f"presses the {thing}", presses=True)]


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
