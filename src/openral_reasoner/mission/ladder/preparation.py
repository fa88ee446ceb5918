"""Carries out what comes before an attempt, or in its place (`ways`): each step is a motion or a look.

A step that fails is said, and ends the preparation; the attempt itself is made all the same, unless what failed was the
very change that the rung was about. A grasp that fails, or that is lost on the way, is not the end: the thing lies
elsewhere than it was seen, so it is looked for anew, as often as `MOST_TAKES` says. What is not seen is looked for once
more with the hand elsewhere, since the hand may hide it.
"""

from __future__ import annotations

from math import dist

from openral_control.motions.phases import CLOSED_ON_NOTHING, STANDS_SHORT
from openral_core.instant import Instant
from openral_reasoner.mission.attempt import Command, DirectorConfig, FindThing
from openral_reasoner.mission.goal_tracker import GoalTracker
from openral_reasoner.mission.ladder.rung_steps import (
    Drive,
    Find,
    Point,
    Step,
    look_higher,
    steps_anew,
    steps_of,
)
from openral_reasoner.mission.mission import Mission, Task
from openral_reasoner.mission.verify_gate import GateVerdict, Judgement
from openral_reasoner.palette import Palette

MOST_TAKES = 3
"""How often a thing is grasped in one preparation."""
SQUEEZED_M = (0.015, 0.2)
"""[m] least and greatest way that a thing has gone which fingers pushed out as they closed on its edge."""
SHIFT_M = 0.01
"""[m] by which it is then grasped further on that side than it is seen: about what `mini-detector` errs by on the table
of MetaWorld, 0.6 cm as a rule and 1.3 cm at most."""
SLIPPED_M = 0.005
"""[m] by which the fingers are further apart, or nearer, at the end of a way than when they took what they carried:
it has gone."""
FIND_PATIENCE_S = 20.0
"""[s] wall time that a look for an object may take; the first one loads the detector."""


class Preparation:
    """What comes before the attempts of one mission. Not thread-safe; clocks as in `Director`."""

    def __init__(self, goals: GoalTracker, config: DirectorConfig) -> None:
        self._goals, self._config = goals, config
        self._task: Task | None = None
        self._palette = Palette()
        self._steps: list[Step] = []
        self._all_steps: tuple[Step, ...] = ()
        self.points: dict[str, Point] = {}
        """[m] where things were found for the present task, by the words that they were looked for with."""
        self._takes = 0
        self._held_m: float | None = None
        """[m] between the fingers when they had taken what they hold; None: nobody knows."""
        self.carried_to: Point | None = None
        """[m] where the hand is that has carried a thing and holds it still; None: it holds nothing."""
        self._key = 0
        self._asked_wall_s: float | None = None
        self._driving: Drive | None = None
        self._failure = self._lost = ""
        self._looked_again: set[str] = set()
        self._missed: dict[str, Point] = {}
        """[m] where a thing was seen when the fingers closed on nothing there."""

    @property
    def drives(self) -> bool:
        """The goal in flight is a motion of the preparation, and no attempt."""
        return self._driving is not None

    def forget(self) -> None:
        """Another mission begins, or the attempt does; an answer that is still on its way counts no more."""
        self._task, self._steps, self.points, self._looked_again = None, [], {}, set()
        self._all_steps, self._takes, self._held_m = (), 0, None
        self._driving, self._asked_wall_s, self._failure, self._lost = None, None, "", ""
        self._missed, self.carried_to = {}, None

    def due(self, mission: Mission, task: Task, palette: Palette, now: Instant) -> list[Command] | None:
        """What is to be done before the attempt at a task; None: nothing is left, it may begin."""
        self._palette = palette
        if self._task is not task:
            self.forget()
            self._task = task
            try:
                self._all_steps = tuple(steps_of(task, palette, self._config))
                self._steps = list(self._all_steps)
            except LookupError as gone:
                self._fail(str(gone))
        if self._lost:
            mission.say(now.stamp_s, "prepare", f"it did not work: {self._lost}; it is looked for anew")
            self._lost = ""
        if self._failure or not self._steps:
            return None
        step = self._steps[0]
        if not isinstance(step, Find):
            self._driving = drive = step(self.points)
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
        step, self._asked_wall_s = self._steps[0], None
        assert isinstance(step, Find), "only a look asks"
        if point is not None:
            self.points[step.words] = _further(self._missed.pop(step.words, None), point)
            self._steps.pop(0)
        elif look := self._another_look(step.words):
            self._steps.insert(0, look)
        else:
            self._fail(why)
        return True

    def driven(self, judgement: Judgement) -> None:
        """The motion of the preparation has ended; its report is the task's."""
        drive, self._driving = self._driving, None
        if self._steps:
            self._steps.pop(0)
        if drive is None or ((drive.presses or drive.looks) and not judgement.broken_off):
            return
        failed = self._failure_of(drive, judgement)
        again = (drive.takes or drive.carries) and not judgement.broken_off and self._takes < MOST_TAKES
        if failed and again:
            self._lost = failed
            self._look_anew(failed)
        elif failed:
            self._fail(failed)

    def _failure_of(self, drive: Drive, judgement: Judgement) -> str:
        """Return why a motion failed, or nothing; note what the hand holds after it, and where it was carried."""
        report = self._task.report if self._task else None
        opening_m = report.gripper_m if report else None
        failed = "" if judgement.verdict is GateVerdict.SUCCEEDED else judgement.reason
        if drive.takes:
            self._takes, self._held_m = self._takes + 1, opening_m
        elif drive.carries and not failed:
            failed = _what_slipped(self._held_m, opening_m)
        holds = drive.carries and not failed and self._held_m is not None and opening_m is not None
        self.carried_to = report.hand if holds and report else None
        return failed

    def take_failure(self) -> str:
        """Why the preparation of the attempt failed, once; empty: it did not."""
        failure, self._failure = self._failure, ""
        return failure

    def _look_anew(self, failed: str) -> None:
        """Begin again after a grasp that failed, or after a way on which the thing was lost.

        A hand that something held up begins from home, so that it comes to the thing from another side.
        """
        assert self._task is not None, "something was driven for it"
        self._steps, thing = list(self._all_steps), ""
        if STANDS_SHORT not in failed:
            steps, thing = steps_anew(self._all_steps, self._task, self._palette)
            self._steps = list(steps)
        seen = self.points.pop(thing, None)
        if CLOSED_ON_NOTHING in failed and seen is not None:
            self._missed[thing] = seen
        self._looked_again.clear()

    def _another_look(self, words: str) -> Step | None:
        """Return what is done before an unseen thing is looked for once more; None: it was looked for twice."""
        if words in self._looked_again or self._task is None:
            return None
        self._looked_again.add(words)
        return look_higher(self._task, self._palette, words)

    def _fail(self, why: str) -> None:
        self._failure = why or "it did not work"
        self._steps = []


def _further(missed: Point | None, seen: Point) -> Point:
    """Return where a thing is to be grasped that is seen at a point [m], after fingers closed on nothing at another.

    What fingers touch at its edge as they close is pushed out, to the side on which it was: the locator saw it too far
    on the other side, and errs by as much again, since its error changes little from place to place.
    """
    if missed is None:
        return seen
    away_m = dist(missed[:2], seen[:2])
    if not SQUEEZED_M[0] <= away_m <= SQUEEZED_M[1]:
        return seen
    x, y = (to + SHIFT_M * (to - begun) / away_m for begun, to in zip(missed[:2], seen[:2], strict=True))
    return (x, y, seen[2])


def _what_slipped(held_m: float | None, opening_m: float | None) -> str:
    """Return, in words, that fingers which held something at an opening [m] do not any more; empty: they do."""
    if held_m is None or opening_m is None or abs(opening_m - held_m) <= SLIPPED_M:
        return ""
    then, now = f"{100 * held_m:.1f} cm", f"{100 * opening_m:.1f} cm"
    return f"the fingers are {now} apart, and were {then} when they took it: it is lost"
