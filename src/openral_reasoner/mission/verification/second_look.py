"""What the reward monitor is asked after the fact: an attempt that it did not see to its end because it was away, and
motions in the place of a task, which measured that they arrived and not what came of it."""

from __future__ import annotations

from openral_reasoner.condition import Condition
from openral_reasoner.mission.attempt import AskWorld
from openral_reasoner.mission.mission import Task
from openral_reasoner.mission.verify_gate import GateVerdict, Judgement
from openral_reasoner.planner import PlannedTask

KEY = -2
"""Of the one `AskWorld` of a second look."""


class SecondLook:
    """Waits for the monitor, then asks it once. Not thread-safe; times are monotonic, [s]."""

    def __init__(self, patience_s: float) -> None:
        """Begin with nothing to look at.

        Args:
            patience_s: how long the monitor is waited for.
        """
        self._patience_s = patience_s
        self._first: Judgement | None = None
        self._of: PlannedTask | None = None
        self._until_wall_s = 0.0
        self._asked = self._missed = self._there = False

    @property
    def waits(self) -> bool:
        """A task is not yet judged."""
        return self._first is not None

    def attempt_begins(self) -> None:
        """What was missed before does not count any more."""
        self._first, self._missed = None, False

    def monitor(self, silent: bool, there: bool) -> None:
        """Take in whether the monitor owes readings, and whether it is in the graph."""
        self._missed, self._there = self._missed or silent, there

    def begin(self, judgement: Judgement, task: Task, wall_s: float) -> str:
        """Put a judgement off and return why; empty: there is no reason to."""
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
        """Motions in the place of a task are done: let the monitor say whether it is, and return why."""
        first = unseen(planned)
        self._put_off(first, planned, wall_s)
        return f"{first.reason}; the reward monitor is asked"

    def _put_off(self, judgement: Judgement, planned: PlannedTask, wall_s: float) -> None:
        self._first, self._of, self._asked, self._missed = judgement, planned, False, False
        self._until_wall_s = wall_s + self._patience_s

    def due(self, wall_s: float) -> list[AskWorld] | Judgement:
        """What is to be asked now, or the judgement where the monitor does not come back."""
        if self._first is not None and not self._asked and not self._there and wall_s > self._until_wall_s:
            first, self._first = self._first, None
            return first
        planned = self._of
        if self._asked or not self._there or planned is None:
            return []
        self._asked = True
        return [AskWorld(KEY, Condition(text=f'"{planned.text}" is done', task=planned.instruction))]

    def judge(self, holds: bool | None, why: str) -> Judgement | None:
        """The judgement, by what the monitor sees now; None: nothing was put off."""
        first, self._first = self._first, None
        if first is None or holds is None:
            return first
        verdict = GateVerdict.SUCCEEDED if holds else GateVerdict.STALLED
        return Judgement(
            verdict, f"the reward monitor, asked about it, sees it{'' if holds else ' not'} done: {why}"
        )


def unseen(planned: PlannedTask) -> Judgement:
    """Return what is known of a task when the motions in its place are done."""
    return Judgement(
        GateVerdict.UNVERIFIED, f'the motions for "{planned.text}" are done, and whether it is nobody saw'
    )
