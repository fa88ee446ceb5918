"""Action chunks, and the queue of actions by control step that the newest chunk fills."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Chunk:
    """H consecutive actions, the result of one inference, as in `openral/msg/ActionChunk`."""

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
    """(H * A,) row-major, in the units of the scene's action contract; not validated."""
    latency_s: float = 0.0
    """[s] inference wall time."""
    horizon_limit_s: float = math.inf
    """[s] longest chunk that its sender announced; inf: none."""
    fault: str = ""
    """Why the message could not be read; such a chunk is refused. Empty: it could."""

    @classmethod
    def end_of(cls, goal_id: str) -> Chunk:
        """Return an empty chunk, which ends a goal."""
        return cls(0.0, goal_id, "", "", "", 0, 0, 0, 0.0, np.empty(0, np.float32))

    @property
    def ends_goal(self) -> bool:
        """Whether it is empty, which means that its goal has ended and no more of its actions may be executed."""
        return self.horizon == 0 and self.data.size == 0


class ChunkQueue:
    """The actions of one chunk by control step. A newer chunk replaces all of them."""

    def __init__(self) -> None:
        self._first = 0
        self._actions: NDArray[np.float32] | None = None

    def replace(self, first_step: int, actions: NDArray[np.float32]) -> None:
        """Set the queue to `actions` (n, A) for the control steps from `first_step` on."""
        self._first, self._actions = first_step, actions

    def clear(self) -> None:
        """Remove all actions."""
        self._actions = None

    def after(self, step: int) -> NDArray[np.float32]:
        """Return the actions (k, A) for the control steps from `step` on; (0, 0) if the queue is empty or not begun."""
        actions = self._actions
        if actions is None or step < self._first:
            return np.empty((0, 0), np.float32)
        return actions[step - self._first :]

    def at(self, step: int) -> NDArray[np.float32] | None:
        """Return the action (A,) of a control step, or None."""
        actions = self._actions  # read once, since the emergency stop clears it from another thread
        if actions is None or not 0 <= step - self._first < len(actions):
            return None
        action: NDArray[np.float32] = actions[step - self._first]
        return action
