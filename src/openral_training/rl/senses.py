"""The vector that a state policy sees: what the simulator knows of its world, and which task it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import SimulationError
from openral_sim_bridge.backend import Backend
from openral_sim_bridge.metaworld.backend import MetaWorldBackend

_NOW, _GOAL = slice(0, 18), slice(36, 39)
"""Of MetaWorld's observation: hand, gripper and two objects; where the task is done. Between them the past."""


class Senses:
    """Reads observations (D,) for the tasks of a run."""

    def __init__(self, tasks: Sequence[str]) -> None:
        """Number the tasks.

        Args:
            tasks: of the run; of several, one number each tells which it is.
        """
        self._tasks = list(tasks)

    @property
    def dim(self) -> int:
        """D"""
        return 21 + len(self._task(self._tasks[0]))

    def look(self, backend: Backend, env: int, task: str) -> NDArray[np.float32]:
        """Return (D,) for one world: MetaWorld's own numbers [m], quaternions, gripper 0..1, then the task.

        Raises:
            SimulationError: the simulator tells no such state.
        """
        if not isinstance(backend, MetaWorldBackend):
            raise SimulationError(
                f"{type(backend).__name__} tells no state that a policy could act on without eyes; use MetaWorld"
            )
        seen = backend.world(env).look(task)
        return self.observation(np.concatenate([seen[_NOW], seen[_GOAL]]), task)

    def observation(self, state: NDArray[Any], task: str) -> NDArray[np.float32]:
        """Return (D,) of the simulator's own numbers (21,), wherever they come from, and the task."""
        return np.concatenate([state, self._task(task)]).astype(np.float32)

    def _task(self, task: str) -> NDArray[np.float64]:
        """Return which task it is, one number each; none where there is only one."""
        count = len(self._tasks)
        return np.eye(count)[self._tasks.index(task)] if count > 1 else np.zeros(0)
