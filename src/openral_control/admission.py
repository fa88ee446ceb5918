"""Admission to the control loop: chunks of announced goals pass, others wait a moment for their announcement or go.

A node announces its goal before its first chunk, but the two topics need not arrive in that order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from openral_control.chunk_queue import Chunk
from openral_control.goal_registry import GoalAnnouncement, GoalRegistry

PATIENCE_S = 0.25
"""[s] wall time that a chunk waits for the announcement of its goal."""
MAX_WAITING, MAX_WAITING_OF_A_GOAL = 64, 4
"""How many chunks may wait, in all and of one goal."""


@dataclass(frozen=True)
class _WaitingChunk:
    chunk: Chunk
    since_s: float


class Admission:
    """Decides about each chunk before anything else does.

    Times are monotonic wall time [s]. Not safe for several threads.
    """

    def __init__(self, admit: Callable[[Chunk], None], refuse: Callable[[Chunk, str], None]) -> None:
        """Begin with an empty registry.

        Args:
            admit: gets the chunks that may go on, and an ending chunk for each goal whose holder let it go.
            refuse: gets the others, with the reason. They are nobody's: no goal may suffer by them.
        """
        self._admit, self._refuse = admit, refuse
        self._registry = GoalRegistry()
        self._waiting: list[_WaitingChunk] = []
        self.refused = 0
        """Chunks that were not admitted, since the start."""

    def offer(self, chunk: Chunk, now_s: float) -> None:
        """Take a chunk that is well formed."""
        self._registry.expire(now_s)
        if chunk.ends_goal:
            # What the holder ends by itself is ended at once; what nobody holds has nothing to be ended.
            self._drop_waiting({chunk.goal_id})
            if self._registry.holds(chunk.goal_id):
                self._admit(chunk)
        elif not self._pass(chunk):
            waiting_too = sum(other.chunk.goal_id == chunk.goal_id for other in self._waiting)
            may_come = not self._registry.holds(chunk.goal_id) and not self._registry.has_ended(chunk.goal_id)
            if may_come and len(self._waiting) < MAX_WAITING and waiting_too < MAX_WAITING_OF_A_GOAL:
                self._waiting.append(_WaitingChunk(chunk, now_s))
            else:
                self._turn_away(chunk)

    def announce(self, said: GoalAnnouncement, now_s: float) -> None:
        """Take what a node says of itself, and let in what waited for it."""
        try:
            self._end(self._registry.announce(said, now_s))
        finally:
            self._look_again(now_s)

    def look(self, present: Collection[str] | None, now_s: float) -> None:
        """Turn away what has waited too long, and forget the nodes that are gone; to be called at times.

        Args:
            present: fully qualified names of the nodes in the graph; None: not asked this time.
            now_s: now.
        """
        self._registry.expire(now_s)
        if present is not None:
            self._end(self._registry.compare(present, now_s))
        self._look_again(now_s)

    def holds(self, goal_id: str) -> bool:
        """Whether some node announces this goal."""
        return self._registry.holds(goal_id)

    def has_ended(self, goal_id: str) -> bool:
        """Whether this goal was held and is over."""
        return self._registry.has_ended(goal_id)

    def end_all(self) -> None:
        """The emergency stop: no chunk of a goal that is held or waited for now passes any more."""
        self._registry.end_all()
        self._waiting.clear()

    def _pass(self, chunk: Chunk) -> bool:
        holder = self._registry.holder(chunk.goal_id, chunk.skill)
        if holder is not None:
            limit = holder.horizon_s if holder.horizon_s > 0.0 else chunk.horizon_limit_s
            self._admit(replace(chunk, horizon_limit_s=limit))
        return holder is not None

    def _look_again(self, now_s: float) -> None:
        waiting, self._waiting = self._waiting, []
        for item in waiting:
            if self._pass(item.chunk):
                continue
            if now_s - item.since_s <= PATIENCE_S:
                self._waiting.append(item)
            else:
                self._turn_away(item.chunk)

    def _turn_away(self, chunk: Chunk) -> None:
        self.refused += 1
        self._refuse(chunk, self._registry.why_not(chunk.goal_id, chunk.skill))

    def _end(self, goals: list[str]) -> None:
        self._drop_waiting(set(goals))
        for goal in goals:
            self._admit(Chunk.end_of(goal))

    def _drop_waiting(self, goals: set[str]) -> None:
        self._waiting = [item for item in self._waiting if item.chunk.goal_id not in goals]
