"""What is done before an attempt: the hand goes where its skill begins well, or above the object that was found.

A preparation is a short list of steps, each a motion or a look. A step that fails is said, and ends the preparation;
the attempt itself is made all the same, unless what failed was the very change that the rung was about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from openral_core.instant import Instant
from openral_reasoner.mission.attempt import Command, DirectorConfig, FindThing
from openral_reasoner.mission.gate import GateVerdict, Judgement
from openral_reasoner.mission.goal_tracker import GoalTracker
from openral_reasoner.mission.mission import Mission, Task
from openral_reasoner.palette import MOTION, Palette, Skill
from openral_reasoner.planner import PlannedTask
from openral_reasoner.vocabulary import stem, words

BRISK_M_S = 0.5
"""[m/s] speed of the hand on its way to a start; the envelope and the arm may allow less."""
FIND_PATIENCE_S = 5.0
"""[s] wall time that a look for an object may take."""


@dataclass(frozen=True)
class Drive:
    """A motion, and what for."""

    motion: Skill
    params: Mapping[str, Any]
    why: str


@dataclass(frozen=True)
class Find:
    """A look for an object, above which the hand goes then."""

    words: str


class Preparation:
    """What comes before the attempts of one mission. Not thread-safe; clocks as in `Director`."""

    def __init__(self, goals: GoalTracker, config: DirectorConfig) -> None:
        self._goals, self._config = goals, config
        self._task: Task | None = None
        self._steps: list[Drive | Find] = []
        self._palette = Palette()
        self._key = 0
        self._asked_wall_s: float | None = None
        self._driving = False
        self._failure = ""

    @property
    def drives(self) -> bool:
        """The goal in flight is a motion of the preparation, and no attempt."""
        return self._driving

    def forget(self) -> None:
        """Another mission begins, or the attempt does; an answer that is still on its way counts no more."""
        self._task, self._steps = None, []
        self._driving, self._asked_wall_s, self._failure = False, None, ""

    def due(self, mission: Mission, task: Task, palette: Palette, now: Instant) -> list[Command] | None:
        """What is to be done before the attempt at a task; None: nothing is left, it may begin."""
        if self._task is not task:
            self.forget()
            self._task, self._palette = task, palette
            self._steps = list(_steps(task, palette))
        if self._failure or not self._steps:
            return None
        step = self._steps[0]
        if isinstance(step, Drive):
            self._driving = True
            mission.say(now.stamp_s, "prepare", f"{step.motion.name} {step.why}")
            return [self._goals.drive(task, step.motion, step.params, now)]
        if self._asked_wall_s is None:
            self._asked_wall_s = now.wall_s
            self._key += 1
            mission.say(now.stamp_s, "prepare", f'where is "{step.words}"?')
            return [FindThing(self._key, step.words)]
        if now.wall_s - self._asked_wall_s > FIND_PATIENCE_S:
            self._fail(f"nobody answered within {FIND_PATIENCE_S:.0f} s where {step.words} is")
        return []

    def found(self, key: int, point: tuple[float, float, float] | None, why: str) -> bool:
        """The answer to the `FindThing` of that key, [m] in the world frame; None: it was not found.

        Returns:
            Whether the answer still counts.
        """
        if key != self._key or self._asked_wall_s is None or not self._steps:
            return False
        step, self._asked_wall_s = self._steps.pop(0), None
        move_to = self._palette.motion("move_to")
        if point is None or move_to is None or not isinstance(step, Find):
            self._fail(why)
            return True
        x, y, z = point
        above = [round(x, 4), round(y, 4), round(z + self._config.stage_height_m, 4)]
        params = {"position": above, "clearance_m": 0.05, "gripper": "open", "speed_m_s": BRISK_M_S}
        self._steps.insert(0, Drive(move_to, params, f"brings the hand above {step.words}"))
        return True

    def driven(self, judgement: Judgement) -> None:
        """The motion of the preparation has ended."""
        self._driving = False
        if self._steps:
            self._steps.pop(0)
        if judgement.verdict is not GateVerdict.SUCCEEDED:
            self._fail(judgement.reason)

    def take_failure(self) -> str:
        """Why the preparation of the attempt failed, once; empty: it did not."""
        failure, self._failure = self._failure, ""
        return failure

    def _fail(self, why: str) -> None:
        self._failure = why or "it did not work"
        self._steps = []


def _steps(task: Task, palette: Palette) -> list[Drive | Find]:
    """What comes before the next attempt at a task: by its way, and by where its skill begins."""
    skill = task.planned.skill
    thing = object_of(task.planned)
    if skill.kind == MOTION:
        return []
    if task.way == "restage" and thing:
        return [Find(thing)]
    start, home = skill.start_of(task.planned.skill_task), palette.motion("home")
    if home is None or (start is None and task.way != "home"):
        return []
    params: dict[str, Any] = {"speed_m_s": BRISK_M_S}
    if task.way:
        params["gripper"] = "open"  # what the failed attempt holds is let go
    if start is not None:
        params |= {"position": list(start.position), "tolerance_m": min(max(start.tolerance_m, 0.003), 0.1)}
    where = "home" if start is None else f"to where {skill.name} begins"
    return [Drive(home, params, f"drives the hand {where}")]


def object_of(planned: PlannedTask) -> str:
    """The object of the skill that a task's words name first; empty: they name none."""
    said = [stem(word) for word in words(f"{planned.instruction} {planned.text} {planned.meant}")]
    places = {
        thing: said.index(stem(words(thing)[-1]))
        for thing in planned.skill.objects
        if words(thing) and stem(words(thing)[-1]) in said
    }
    return min(places, key=places.__getitem__, default="")
