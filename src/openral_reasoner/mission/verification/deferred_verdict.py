"""Defers the judgement of an attempt until the locator has measured its end, or the reward monitor was asked again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from openral_core.instant import Instant
from openral_reasoner.mission.attempt import Command
from openral_reasoner.mission.ladder.rung_steps import Point, is_all
from openral_reasoner.mission.mission import Task
from openral_reasoner.mission.verification.placement_check import Measurement
from openral_reasoner.mission.verification.second_look import KEY, SecondLook
from openral_reasoner.mission.verify_gate import GateVerdict, Judgement

Say = Callable[[float, str, str], None]
"""([s] node clock, kind of the step, reason): a line of the mission log."""


class Verification:
    """Verifies one attempt at a time, by the locator, or by asking the reward monitor. Not thread-safe."""

    def __init__(self, say: Say, patience_s: float) -> None:
        """Begin without an attempt.

        Args:
            say: writes the mission log.
            patience_s: [s] wall time that a missing reward monitor is waited for.
        """
        self._say = say
        self._second, self._measurement = SecondLook(patience_s), Measurement()
        self._task: Task | None = None

    @property
    def waits(self) -> bool:
        """Whether the judgement of an attempt is deferred."""
        return self._second.waits or self._measurement.waits

    def forget(self) -> None:
        """Drop all state, since another mission begins."""
        self._second.attempt_begins()
        self._measurement.forget()

    def attempt_begins(self, points: Mapping[str, Point], hand: Point | None = None) -> None:
        """Begin another attempt; the arguments are those of `Measurement.knows`."""
        self._second.attempt_begins()
        self._measurement.knows(points, hand)

    def monitor(self, silent: bool, there: bool) -> None:
        """Take in whether readings of the running goal are overdue, and whether the monitor is in the graph."""
        self._second.monitor(silent, there)

    def perception(self, can_locate: bool) -> None:
        """Take in whether the service that locates things is there."""
        self._measurement.can_locate = can_locate

    def begin(self, judgement: Judgement, task: Task, now: Instant) -> bool:
        """Defer the judgement of an attempt, if its end can be verified, and log how; return whether it is deferred."""
        self._task = task
        if put_off := self._second.begin(judgement, task, now.wall_s):
            self._say(now.stamp_s, "monitor", put_off)
        elif asked := self._measurement.begin(judgement, task):
            self._say(now.stamp_s, "measure", asked)
        else:
            return self._is_asked_about(judgement, now)
        return True

    def due(self, now: Instant) -> Sequence[Command] | Judgement:
        """Return the commands that are due, or the judgement once it is known. Called only while it `waits`."""
        if not self._measurement.waits:
            return self._second.due(now.wall_s)
        due = self._measurement.due(now.wall_s)
        if isinstance(due, Judgement) and self._is_asked_about(due, now):
            return self._second.due(now.wall_s)
        return due

    def found(self, key: int, point: Point | None) -> bool:
        """Take an answer to `FindThing`; return whether it was asked for here."""
        return self._measurement.found(key, point)

    def seen(self, key: int, holds: bool | None, why: str) -> tuple[bool, Judgement | None]:
        """Take an answer to `AskWorld`; return whether it was asked for here, and the judgement, if one is deferred."""
        return (True, self._second.judge(holds, why)) if key == KEY else (False, None)

    def _is_asked_about(self, judgement: Judgement, now: Instant) -> bool:
        """Ask the monitor about a task that motions did and that was not measured; return whether it is asked."""
        task = self._task
        if task is None or judgement.verdict is not GateVerdict.UNVERIFIED or not is_all(task):
            return False
        self._say(now.stamp_s, "monitor", self._second.after_motions(task.planned, now.wall_s))
        return True
