"""Carries out what comes before an attempt, or in its place (`ways`): each step is a motion or a look.

A step that fails is said, and ends the preparation; the attempt itself is made all the same, unless what failed was the
very change that the rung was about.
"""

from __future__ import annotations

from openral_core.instant import Instant
from openral_reasoner.mission.attempt import Command, DirectorConfig, FindThing
from openral_reasoner.mission.gate import GateVerdict, Judgement
from openral_reasoner.mission.goal_tracker import GoalTracker
from openral_reasoner.mission.ladder.ways import Drive, Find, Point, Step, steps_of
from openral_reasoner.mission.mission import Mission, Task
from openral_reasoner.palette import Palette

FIND_PATIENCE_S = 20.0
"""[s] wall time that a look for an object may take; the first one loads the detector."""


class Preparation:
    """What comes before the attempts of one mission. Not thread-safe; clocks as in `Director`."""

    def __init__(self, goals: GoalTracker, config: DirectorConfig) -> None:
        self._goals, self._config = goals, config
        self._task: Task | None = None
        self._steps: list[Step] = []
        self._points: dict[str, Point] = {}
        self._key = 0
        self._asked_wall_s: float | None = None
        self._driving: Drive | None = None
        self._failure = ""

    @property
    def drives(self) -> bool:
        """The goal in flight is a motion of the preparation, and no attempt."""
        return self._driving is not None

    def forget(self) -> None:
        """Another mission begins, or the attempt does; an answer that is still on its way counts no more."""
        self._task, self._steps, self._points = None, [], {}
        self._driving, self._asked_wall_s, self._failure = None, None, ""

    def due(self, mission: Mission, task: Task, palette: Palette, now: Instant) -> list[Command] | None:
        """What is to be done before the attempt at a task; None: nothing is left, it may begin."""
        if self._task is not task:
            self.forget()
            self._task = task
            try:
                self._steps = list(steps_of(task, palette, self._config))
            except LookupError as gone:
                self._fail(str(gone))
        if self._failure or not self._steps:
            return None
        step = self._steps[0]
        if not isinstance(step, Find):
            self._driving = drive = step(self._points)
            mission.say(now.stamp_s, "prepare", f"{drive.motion.name} {drive.why}")
            return [self._goals.drive(task, drive.motion, drive.params, now)]
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
        if point is None or not isinstance(step, Find):
            self._fail(why)
        else:
            self._points[step.words] = point
        return True

    def driven(self, judgement: Judgement) -> None:
        """The motion of the preparation has ended."""
        drive, self._driving = self._driving, None
        if self._steps:
            self._steps.pop(0)
        presses = drive is not None and drive.presses and not judgement.broken_off
        if judgement.verdict is not GateVerdict.SUCCEEDED and not presses:
            self._fail(judgement.reason)

    def take_failure(self) -> str:
        """Why the preparation of the attempt failed, once; empty: it did not."""
        failure, self._failure = self._failure, ""
        return failure

    def _fail(self, why: str) -> None:
        self._failure = why or "it did not work"
        self._steps = []
