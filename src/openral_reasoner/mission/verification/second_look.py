"""Asks the reward monitor after an attempt whether its task is done, where no reading has judged it.

This is so where the monitor was away during the attempt, and where motions did the task: they measure that they
arrived, and not what came of it.
"""

from __future__ import annotations

from openral_reasoner.condition import Condition
from openral_reasoner.mission.attempt import AskWorld
from openral_reasoner.mission.mission import Task
from openral_reasoner.mission.verify_gate import GateVerdict, Judgement
from openral_reasoner.planner import PlannedTask

KEY = -2
"""Key of the one `AskWorld` of a second look."""


class SecondLook:
    """Waits for the monitor, then asks it once. Not thread-safe; times are monotonic, [s]."""

    def __init__(self, patience_s: float) -> None:
        """Begin without an attempt.

        Args:
            patience_s: wall time that a missing monitor is waited for.
        """
        self._patience_s = patience_s
        self._first: Judgement | None = None
        self._of: PlannedTask | None = None
        self._until_wall_s = 0.0
        self._asked = self._missed = self._there = False

    @property
    def waits(self) -> bool:
        """Whether the judgement of an attempt is deferred."""
        return self._first is not None

    def attempt_begins(self) -> None:
        """Begin another attempt; that the monitor was away before is forgotten."""
        self._first, self._missed = None, False

    def monitor(self, silent: bool, there: bool) -> None:
        """Take in whether readings of the running goal are overdue, and whether the monitor is in the graph."""
        self._missed, self._there = self._missed or silent, there

    def begin(self, judgement: Judgement, task: Task, wall_s: float) -> str:
        """Defer a judgement, and return why, for the mission log; empty: it is not deferred."""
        if (
            judgement.verdict is GateVerdict.SUCCEEDED
            and task.stands_for
            and task.planned.skill.judges_itself
        ):
            return self.after_motions(task.stands_for, wall_s)
        if judgement.verdict is GateVerdict.UNVERIFIED and self._missed:
            self._put_off(judgement, task.planned, wall_s)
            return f"{judgement.reason}; it is asked when it is back"
        return ""

    def after_motions(self, planned: PlannedTask, wall_s: float) -> str:
        """Defer the judgement of a task whose motions have ended, and return why, for the mission log."""
        first = unseen(planned)
        self._put_off(first, planned, wall_s)
        return f"{first.reason}; the reward monitor is asked"

    def _put_off(self, judgement: Judgement, planned: PlannedTask, wall_s: float) -> None:
        self._first, self._of, self._asked, self._missed = judgement, planned, False, False
        self._until_wall_s = wall_s + self._patience_s

    def due(self, wall_s: float) -> list[AskWorld] | Judgement:
        """Return what is to be asked now, or the first judgement where the monitor does not come back in time."""
        if self._first is not None and not self._asked and not self._there and wall_s > self._until_wall_s:
            first, self._first = self._first, None
            return first
        planned = self._of
        if self._asked or not self._there or planned is None:
            return []
        self._asked = True
        return [AskWorld(KEY, Condition(text=f'"{planned.text}" is done', task=planned.instruction))]

    def judge(self, holds: bool | None, why: str) -> Judgement | None:
        """Return the judgement by the monitor's answer; where it cannot tell, the first one; None: none is deferred."""
        first, self._first = self._first, None
        if first is None or holds is None:
            return first
        verdict = GateVerdict.SUCCEEDED if holds else GateVerdict.STALLED
        return Judgement(
            verdict, f"the reward monitor, asked about it, sees it{'' if holds else ' not'} done: {why}"
        )


def unseen(planned: PlannedTask) -> Judgement:
    """Return the judgement of a task whose motions have ended, before anything verified it."""
    return Judgement(
        GateVerdict.UNVERIFIED, f'the motions for "{planned.text}" are done, and whether it is nobody saw'
    )
