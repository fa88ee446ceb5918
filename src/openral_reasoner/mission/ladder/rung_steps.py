"""The steps before an attempt, or in place of it, by the rung that a task is tried by: locating things, and motions."""

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
"""[m/s] speed of the hand that is requested of motions; the envelope and the arm may allow less."""
ROUGHLY_M = 0.02
"""[m] tolerance of a motion that only takes the hand out of the picture; it need not come to rest."""
LIFT_M = 0.15
"""[m] that a thing is lifted where the task is to take it."""
CARRY_M = 0.1
"""[m] that a thing is lifted before the skill goes on with it, or before it is put down elsewhere."""
STOPPED_ABOVE_M = 0.055
"""[m] above a thing within which a hand that something stops still closes its fingers.

At the puck of MetaWorld the table stops the hand 3 cm above it, and the table's rim 4 cm; the locator sees the puck up
to 1.3 cm too low."""
ABOVE_PLACE_M = 0.02
"""[m] above a place to which the hand goes with a thing, which hangs a little lower than the fingers."""
HELD_WITHIN_M = 0.015
"""[m] tolerance of that motion: at the end of its reach the hand of MetaWorld stops 1 cm short."""
APPROACH_M = 0.05
"""[m] above a place from which the hand comes down with a thing."""
IN_THE_AIR_M = 0.05
"""[m] a place that is higher than the thing by more than this counts as in the air."""
ABOVE_BUTTON_M = 0.06
"""[m] above a thing from which the hand comes down to press it."""
PRESS_M = 0.05
"""[m] below the point where it is seen to which the hand comes down at most."""
LOOK_HIGHER_M = 0.2
"""[m] by which the hand is raised where a thing is not seen.

In MetaWorld the hand at home hides a strip behind it, and so three of sixty pucks that lay outside the range of
training; with the hand raised all three are seen."""

Point = tuple[float, float, float]
"""[m] in the world frame of the scene."""
Points = Mapping[str, Point]
"""Where things were found, by the words that they were looked for with."""


@dataclass(frozen=True)
class Find:
    """A step that locates a thing."""

    words: str
    """By which it is named."""


@dataclass(frozen=True)
class Drive:
    """A step that is a motion."""

    motion: Skill
    params: Mapping[str, Any]
    why: str
    """What it does, for the mission log, as words that follow its name."""
    presses: bool = False
    """It ends where the thing that it presses stops it, so it does not fail by not arriving."""
    takes: bool = False
    """It takes a thing into the hand, and ends with it there."""
    carries: bool = False
    """It begins and ends with a thing in the hand."""
    looks: bool = False
    """It takes the hand out of the camera's way, so it does not fail by not arriving."""


MakeDrive = Callable[[Points], Drive]
"""Returns the motion, once the things of the earlier steps are located."""
Step = Find | MakeDrive


def steps_of(task: Task, palette: Palette, config: DirectorConfig) -> Sequence[Step]:
    """Return the steps before the next attempt at a task, or in place of it where `is_all`.

    Before things are located that motions are to handle, the hand goes near its start, if it can, so that it does not
    hide them; no other motion comes before all of them are located.

    Raises:
        LookupError: a motion is no longer in the palette.
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
    """Return the motion after which a thing that was not seen is looked for again; None: there is none."""
    hand, home = task.report.hand if task.report else None, palette.motion("home")
    if hand is None or home is None:
        return None
    return _rise(
        home, hand, hand[2] + LOOK_HIGHER_M, f"is raised, since the {thing} may be behind it", "keep"
    )


def steps_anew(steps: Sequence[Step], task: Task, palette: Palette) -> tuple[Sequence[Step], str]:
    """Return the steps after a grasp that failed or was lost, and the words of the thing to locate anew.

    The hand is near the thing. It is opened and raised on the spot, to the height of the skill's start pose: so it
    hides other parts of the picture than from home, and has a shorter way back. Places are not located again, since
    they have not moved.

    Args:
        steps: all steps of the preparation.
        task: its report holds the position of the hand.
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
    """Return whether the task is done by motions alone, in place of an attempt of its skill."""
    return task.way == Rung.MOTIONS.value


def needs_its_steps(task: Task) -> bool:
    """Return whether an attempt without its steps would be the one that failed before, so that it is not made."""
    return task.way in (Rung.RESTAGE.value, Rung.GRASP.value, Rung.MOTIONS.value)


def _to_start(task: Task, palette: Palette, within_m: float = 0.0, *, carries: bool = False) -> list[Step]:
    """Return the motion to where the skill begins the task; none where there is no need or no such motion.

    Args:
        task: after a failure the hand opens first, unless it `carries` something.
        palette: of the motions.
        within_m: [m] least tolerance.
        carries: the hand holds a thing and keeps it.
    """
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
    """Return the steps that take the hand above the object that the task's words name first."""
    thing, move_to = things_of(task.planned)[0], _of(palette, "move_to")

    def above(points: Points) -> Drive:
        position = _at(points, thing, config.stage_height_m)
        params = {"position": position, "clearance_m": 0.05, "gripper": "open", "speed_m_s": BRISK_M_S}
        return Drive(move_to, params, f"brings the hand above {thing}")

    return [Find(thing), above]


def motion_steps(planned: PlannedTask, palette: Palette) -> Sequence[Step]:
    """Return the steps that do a whole task by the motions of `meaning_of`; empty: its words mean none.

    Raises:
        LookupError: a motion is not in the palette.
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
    """Return the motion that puts the thing at a place, or holds it there where the task ends so or in the air."""
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
    """Return a motion of the palette.

    Raises:
        LookupError: it has gone since `rungs` found it there.
    """
    motion = palette.motion(name)
    if motion is None:
        raise LookupError(f"the motion {name} is not there any more")
    return motion
