"""Answers `AskWorld`: the reward monitor is queried until as many answers in a row agree as the gate's dwell.

A single answer of a learned model is not reliable enough. Where a task has an opposite ("close the drawer" undoes "open
the drawer"), a high score of the opposite alone says that the task is not done; where it has none, low scores do. If
the monitor does not answer, or abstains, the answer to `AskWorld` is None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from openral_core.progress_judgement import ProgressThresholds
from openral_reasoner.mission.agent_requests import QueryProgress, Reply
from openral_reasoner.mission.attempt import AskWorld

PERIOD_S = 0.3
"""[s] wall time between two questions; the monitor has a new frame about three times a second."""
PATIENCE_S = 10.0
"""[s] wall time for one `AskWorld`."""
REFUSALS = 3
"""Answers in a row without a score after which the query ends with None."""

Sense = Callable[[QueryProgress, Callable[[Reply], None]], None]
"""`openral_reasoner.mission.planning_service.Perception.sense`."""
ConditionAnswer = tuple[int, "bool | None", str]
"""Key of the `AskWorld`, whether its condition holds as it stands (None: nobody can tell), and why."""


@dataclass
class _OpenQuery:
    asked: AskWorld
    until_wall_s: float
    next_wall_s: float
    waiting: bool = False
    agreeing: Counter[bool] = field(default_factory=Counter)
    refusals: int = 0
    turn: int = 0
    why: str = "the reward monitor did not answer"


class ConditionQuery:
    """Queries one condition at a time; a newer one takes its place. Not thread-safe."""

    def __init__(self, sense: Sense, gate: ProgressThresholds) -> None:
        self._sense, self._gate = sense, gate
        self._open: _OpenQuery | None = None

    def ask(self, asked: AskWorld, wall_s: float) -> None:
        """Begin a query; its answer is returned by a later `tick`."""
        self._open = _OpenQuery(asked, wall_s + PATIENCE_S, wall_s)

    def tick(self, wall_s: float) -> ConditionAnswer | None:
        """Query the monitor when it is time to, and return the answer once there is one, else None."""
        open_ = self._open
        if open_ is None:
            return None
        state = self._state(open_)
        if state is not None or open_.refusals >= REFUSALS or wall_s >= open_.until_wall_s:
            self._open = None
            holds = None if state is None else state is not open_.asked.condition.negated
            return open_.asked.key, holds, open_.why
        if not open_.waiting and wall_s >= open_.next_wall_s:
            open_.waiting, open_.next_wall_s = True, wall_s + PERIOD_S
            self._question(open_)
        return None

    def _state(self, open_: _OpenQuery) -> bool | None:
        return next((state for state, count in open_.agreeing.items() if count >= self._gate.dwell), None)

    def _question(self, open_: _OpenQuery) -> None:
        """Query the monitor about the task; where it has an opposite, about the two in turn."""
        condition = open_.asked.condition
        opposite = bool(condition.undone) and open_.turn % 2 == 1
        open_.turn += 1
        words = condition.undone if opposite else condition.task

        def answered(reply: Reply) -> None:
            open_.waiting = False
            open_.why = reply.text
            open_.refusals = 0 if reply.ok else open_.refusals + 1
            if not reply.ok or reply.reading is None or not reply.reading.valid:
                open_.agreeing.clear()
                return
            if reply.reading.says_done(self._gate):
                open_.agreeing[opposite] = 0
                open_.agreeing[not opposite] += 1
            elif condition.undone:
                open_.agreeing[not opposite] = 0
            else:
                open_.agreeing[True] = 0
                open_.agreeing[False] += 1

        self._sense(QueryProgress(words), answered)
