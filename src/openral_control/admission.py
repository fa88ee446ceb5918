"""Admission of action chunks to the control loop: only chunks of announced goals are passed on.

A node announces its goal before its first chunk, but the two topics need not arrive in that order. So a chunk without
an announcement waits for up to `PATIENCE_S` before it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from openral_control.chunk_queue import Chunk
from openral_control.goal_registry import GoalAnnouncement, GoalRegistry

PATIENCE_S = 0.25
"""[s] wall time that a chunk waits for the announcement of its goal."""
MAX_WAITING, MAX_WAITING_OF_A_GOAL = 64, 4
"""Largest numbers of waiting chunks, in all and of one goal."""


@dataclass(frozen=True)
class _WaitingChunk:
    chunk: Chunk
    since_s: float


class Admission:
    """Admits, delays or refuses each received chunk.

    Times are monotonic wall time [s]. Not thread-safe.
    """

    def __init__(self, admit: Callable[[Chunk], None], refuse: Callable[[Chunk, str], None]) -> None:
        """Begin with an empty registry.

        Args:
            admit: called with each admitted chunk, and with an ending chunk for each goal that its holder gave up.
            refuse: called with each refused chunk and the reason. Such a chunk belongs to no announced goal, so that
                it must not be counted against one.
        """
        self._admit, self._refuse = admit, refuse
        self._registry = GoalRegistry()
        self._waiting: list[_WaitingChunk] = []
        self.refused = 0
        """Number of chunks that were refused since the start."""

    def offer(self, chunk: Chunk, now_s: float) -> None:
        """Admit a well-formed chunk, let it wait for its announcement, or refuse it."""
        self._registry.expire(now_s)
        if chunk.ends_goal:
            # A holder's own end of its goal passes at once; a goal without a holder has nothing to be ended.
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
        """Register a node's announcement, and admit the chunks that waited for it.

        Raises:
            LookupError: too many skills are announced already.
        """
        try:
            self._end(self._registry.announce(said, now_s))
        finally:
            self._look_again(now_s)

    def look(self, present: Collection[str] | None, now_s: float) -> None:
        """Refuse chunks that have waited too long, and remove nodes that are gone; to be called periodically.

        Args:
            present: fully qualified names of the nodes in the graph; None: unknown, so that no node is removed for it.
            now_s: [s] the present time.
        """
        self._registry.expire(now_s)
        if present is not None:
            self._end(self._registry.compare(present, now_s))
        self._look_again(now_s)

    def holds(self, goal_id: str) -> bool:
        """Return whether an active node announces this goal."""
        return self._registry.holds(goal_id)

    def has_ended(self, goal_id: str) -> bool:
        """Return whether this goal was held by a node and has ended."""
        return self._registry.has_ended(goal_id)

    def end_all(self) -> None:
        """End all held goals and drop all waiting chunks, as for an emergency stop."""
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
