"""Chunks of actions, and the queue of control steps that the newest one fills."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Chunk:
    """One inference's answer: H consecutive actions, as `openral/msg/ActionChunk` carries them."""

    stamp_s: float
    """[s] stamp of the observation it answers."""
    goal_id: str
    skill: str
    instruction: str
    representation: str
    sequence: int
    horizon: int
    """H"""
    dim: int
    """A"""
    dt: float
    """[s] between two steps."""
    data: NDArray[np.float32]
    """(H * A,) row-major, in the units of the scene's action contract; not yet checked."""
    latency_s: float = 0.0
    """[s] inference wall time."""
    horizon_limit_s: float = math.inf
    """[s] longest chunk that its sender announced."""
    fault: str = ""
    """Why the message could not be read; nothing of such a chunk is executed."""

    @classmethod
    def end_of(cls, goal_id: str) -> Chunk:
        """Return the chunk that ends a goal."""
        return cls(0.0, goal_id, "", "", "", 0, 0, 0, 0.0, np.empty(0, np.float32))

    @property
    def ends_goal(self) -> bool:
        """It holds no actions: its goal has ended, and nothing of it shall be executed any more."""
        return self.horizon == 0 and self.data.size == 0


class ChunkQueue:
    """Actions by control step. A newer chunk replaces the whole queue."""

    def __init__(self) -> None:
        self._first = 0
        self._actions: NDArray[np.float32] | None = None

    def replace(self, first_step: int, actions: NDArray[np.float32]) -> None:
        """Plan `actions` (n, A) for the control steps `first_step`, `first_step + 1`, …"""
        self._first, self._actions = first_step, actions

    def clear(self) -> None:
        """Forget every planned step."""
        self._actions = None

    def after(self, step: int) -> NDArray[np.float32]:
        """Return the actions (k, A) planned for the control steps from `step` on."""
        actions = self._actions
        if actions is None or step < self._first:
            return np.empty((0, 0), np.float32)
        return actions[step - self._first :]

    def at(self, step: int) -> NDArray[np.float32] | None:
        """Return the action (A,) planned for a control step, or None."""
        actions = self._actions  # the emergency stop clears it from another thread
        if actions is None or not 0 <= step - self._first < len(actions):
            return None
        action: NDArray[np.float32] = actions[step - self._first]
        return action
