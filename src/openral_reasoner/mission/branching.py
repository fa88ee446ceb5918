"""Evaluates the conditions of a mission: the guard of a task before it begins, the loop when its last task is done.

The director asks `Branching` before it begins a task. A condition that is not evaluated yet leaves as an `AskWorld`
command. Its answer is True, False, or None where nobody can tell; None ends the mission as failed, since acting on a
guess could do the opposite of what was ordered.
"""

from __future__ import annotations

from dataclasses import dataclass

from openral_core.instant import Instant
from openral_reasoner.condition import Condition, Guard
from openral_reasoner.mission.attempt import AskWorld
from openral_reasoner.mission.mission import Mission, MissionState, TaskState

WAIT_S = 1.0
"""[s] wall time from one answer that a condition does not hold to the next question, where the task waits for it."""


@dataclass
class _OpenCondition:
    """A condition that is being evaluated."""

    condition: Condition
    asked: bool = False
    """An `AskWorld` was sent and not answered yet."""
    since_wall_s: float = 0.0
    """[s] monotonic, when it was asked about first."""
    next_wall_s: float = 0.0
    """[s] monotonic, before which it is not asked about again."""


class Branching:
    """Evaluates the guards and loops of one mission, one condition at a time. Not thread-safe."""

    def __init__(self, patience_s: float) -> None:
        """Begin without a condition.

        Args:
            patience_s: [s] wall time after which a task no longer waits for its condition ("when …").
        """
        self._patience_s = patience_s
        self._key = 0
        self._decided: set[int] = set()
        """Indices of the tasks whose guards hold."""
        self._open: _OpenCondition | None = None

    def forget(self) -> None:
        """Begin anew for another mission; answers to earlier `AskWorld` commands are ignored from now on."""
        self._key += 1
        self._decided.clear()
        self._open = None

    def due(self, mission: Mission, now: Instant) -> list[AskWorld] | None:
        """Return what is to be asked before the current task may begin.

        Returns:
            The `AskWorld` to send now; an empty list while its answer is awaited; None: the task may begin.
        """
        task = mission.current
        condition = self._undecided(mission) if task else None
        if task is None or condition is None:
            return None
        if self._open is None:
            self._open = _OpenCondition(condition, since_wall_s=now.wall_s, next_wall_s=now.wall_s)
            mission.say(now.stamp_s, "condition", f"is it so that {condition.text}?")
        if self._open.asked or now.wall_s < self._open.next_wall_s:
            return []
        self._open.asked = True
        self._key += 1
        return [AskWorld(self._key, condition)]

    def condition_of(self, key: int) -> Condition | None:
        """Return the condition that the `AskWorld` of that key asks about; None: its answer is no longer awaited."""
        return self._open.condition if self._open is not None and key == self._key else None

    def found_out(self, mission: Mission, key: int, holds: bool | None, why: str, now: Instant) -> None:
        """Take the answer to an `AskWorld`, and skip, repeat or end as it says.

        Args:
            mission: whose condition it is.
            key: of the `AskWorld`; an answer to an earlier one is ignored.
            holds: whether the condition, with its "not", holds; None: nobody can tell.
            why: for the mission log.
            now: this moment.
        """
        if self._open is None or key != self._key or mission.current is None:
            return
        open_, planned = self._open, mission.current.planned
        if holds is None:
            self._open = None
            mission.end(
                MissionState.FAILED, now.stamp_s, f"nobody could tell whether {open_.condition.text}: {why}"
            )
            return
        waited = now.wall_s - open_.since_wall_s
        looping = mission.current.state is TaskState.DONE
        if not holds and not looping and planned.guard and planned.guard.wait:
            if waited < self._patience_s:
                open_.asked, open_.next_wall_s = False, now.wall_s + WAIT_S
                return
            why = f"{why}, after {waited:.0f} s"
        self._open = None
        if looping:
            self._decide_loop(mission, holds, why, now.stamp_s)
        elif planned.guard:
            self._decided.add(mission.active_task)
            mission.branch(planned.guard, holds, _told(open_.condition, holds, why), now.stamp_s)

    def _decide_loop(self, mission: Mission, holds: bool, why: str, now_s: float) -> None:
        until = mission.tasks[mission.active_task].planned.until
        assert until is not None
        reason = _told(until.condition, holds, why)
        if holds:
            mission.say(now_s, "condition", f"{reason}: the repetition ends")
            mission.advance(now_s)
        elif until.rounds <= 1:
            mission.end(MissionState.FAILED, now_s, f"{reason}, and the repetition has had all its rounds")
        else:
            mission.again(until, f"{reason}: once more", now_s)

    def _undecided(self, mission: Mission) -> Condition | None:
        """Return the condition of the current task that is to be evaluated: its guard, or its loop once it is done."""
        task = mission.tasks[mission.active_task]
        if task.state is TaskState.DONE:
            return task.planned.until.condition if task.planned.until else None
        guard: Guard | None = None if mission.active_task in self._decided else task.planned.guard
        return guard.condition if guard and task.state is TaskState.PENDING and not task.attempts else None


def _told(condition: Condition, holds: bool, why: str) -> str:
    """Return, for the mission log, whether the condition's text without its "not" is so, and why."""
    true = holds is not condition.negated
    return f"{condition.text}: {'yes' if true else 'no'} ({why})"
