"""Carries out the steps before an attempt, or in place of it (`rung_steps`): each is a motion, or locates a thing.

A step that fails is logged, and ends the preparation. The attempt is then made all the same, unless its rung is nothing
without these steps. After a grasp that failed, or a thing that was lost on the way, the thing lies elsewhere than it
was seen, so it is located and grasped again, up to `MOST_TAKES` times. A thing that is not seen is looked for once more
from another position of the hand, which may have hidden it.
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
"""[m] least and greatest distance over which closing fingers push a thing that they touch at its edge."""
SHIFT_M = 0.01
"""[m] by which the next grasp is made beyond the point where the thing is seen, on the side to which it was pushed.

It is about the error of `mini-detector` on the table of MetaWorld, 0.6 cm in the median and 1.3 cm at most."""
SLIPPED_M = 0.005
"""[m] a thing counts as lost where the opening of the fingers has changed by more than this since they took it."""
FIND_PATIENCE_S = 20.0
"""[s] wall time in which a thing must be located; the first request loads the detector."""


class Preparation:
    """Prepares the attempts of one mission. Not thread-safe; clocks as in `Director`."""

    def __init__(self, goals: GoalTracker, config: DirectorConfig) -> None:
        self._goals, self._config = goals, config
        self._task: Task | None = None
        self._palette = Palette()
        self._steps: list[Step] = []
        self._all_steps: tuple[Step, ...] = ()
        self.points: dict[str, Point] = {}
        """[m] where things were located for the present task, by the words that they are named with."""
        self._takes = 0
        self._held_m: float | None = None
        """[m] opening of the fingers after they had taken the thing that they hold; None: unknown."""
        self.carried_to: Point | None = None
        """[m] where the hand is if it has carried a thing and still holds it; None: it has not."""
        self._key = 0
        self._asked_wall_s: float | None = None
        self._driving: Drive | None = None
        self._failure = self._lost = ""
        self._looked_again: set[str] = set()
        self._missed: dict[str, Point] = {}
        """[m] where a thing was seen, by its words, when the fingers closed on nothing there."""

    @property
    def drives(self) -> bool:
        """Whether the active goal is a motion of the preparation, and not an attempt."""
        return self._driving is not None

    def forget(self) -> None:
        """Drop all state, since an attempt or another mission begins; answers that still come are ignored."""
        self._task, self._steps, self.points, self._looked_again = None, [], {}, set()
        self._all_steps, self._takes, self._held_m = (), 0, None
        self._driving, self._asked_wall_s, self._failure, self._lost = None, None, "", ""
        self._missed, self.carried_to = {}, None

    def due(self, mission: Mission, task: Task, palette: Palette, now: Instant) -> list[Command] | None:
        """Return the commands that are due before the attempt at a task; None: it is prepared, or failed to be."""
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
        """Take the answer to the `FindThing` of a key: a point [m] in the world frame; None: it was not found, and why.

        Returns:
            Whether the answer was still awaited.
        """
        if key != self._key or self._asked_wall_s is None or not self._steps:
            return False
        step, self._asked_wall_s = self._steps[0], None
        assert isinstance(step, Find), "no other step asks"
        if point is not None:
            self.points[step.words] = _further(self._missed.pop(step.words, None), point)
            self._steps.pop(0)
        elif look := self._another_look(step.words):
            self._steps.insert(0, look)
        else:
            self._fail(why)
        return True

    def driven(self, judgement: Judgement) -> None:
        """Take in how the motion of the preparation has ended; the task holds its report."""
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
        """Return why a motion failed, empty: it did not; note what the hand holds after it, and where."""
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
        """Return once why the preparation failed; empty: it did not."""
        failure, self._failure = self._failure, ""
        return failure

    def _look_anew(self, failed: str) -> None:
        """Begin the steps again after a grasp that failed, or after the thing was lost.

        Where something stopped the hand before it arrived, all steps are made again, so that it approaches from home.
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
        """Return the motion before a thing that was not seen is looked for again; None: it was looked for twice."""
        if words in self._looked_again or self._task is None:
            return None
        self._looked_again.add(words)
        return look_higher(self._task, self._palette, words)

    def _fail(self, why: str) -> None:
        self._failure = why or "it did not work"
        self._steps = []


def _further(missed: Point | None, seen: Point) -> Point:
    """Return the point [m] at which a thing is grasped next.

    Closing fingers that touch a thing at its edge push it out to the side on which it lay. So the locator had seen it
    too far to the other side, and it does so again, since its error changes little from place to place.

    Args:
        missed: where it was seen when the fingers closed on nothing; None: they did not.
        seen: where it is seen now.
    """
    if missed is None:
        return seen
    away_m = dist(missed[:2], seen[:2])
    if not SQUEEZED_M[0] <= away_m <= SQUEEZED_M[1]:
        return seen
    x, y = (to + SHIFT_M * (to - begun) / away_m for begun, to in zip(missed[:2], seen[:2], strict=True))
    return (x, y, seen[2])


def _what_slipped(held_m: float | None, opening_m: float | None) -> str:
    """Return, in words, that the thing between the fingers is lost; empty: they hold it still, or it is unknown.

    Args:
        held_m: [m] their opening when they took it; None: unknown.
        opening_m: [m] their opening now; None: unknown.
    """
    if held_m is None or opening_m is None or abs(opening_m - held_m) <= SLIPPED_M:
        return ""
    then, now = f"{100 * held_m:.1f} cm", f"{100 * opening_m:.1f} cm"
    return f"the fingers are {now} apart, and were {then} when they took it: it is lost"
