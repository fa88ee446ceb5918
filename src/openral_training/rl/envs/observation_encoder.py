"""What a policy sees of a world, as one vector: here what the simulator knows of it, and which task it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import SimulationError
from openral_core.scene import BenchmarkScene
from openral_core.types import RobotState
from openral_sim_bridge.backend import Backend
from openral_sim_bridge.backends.metaworld.backend import MetaWorldBackend

_NOW, _GOAL = slice(0, 18), slice(36, 39)
"""Of MetaWorld's observation: hand, gripper and two objects; where the task is done. Between them the past."""


class Senses(Protocol):
    """Turns a world into an observation. The same world gives the same numbers, whatever is looked at beside it."""

    @property
    def dim(self) -> int:
        """D"""
        ...

    def look(self, backend: Backend, env: int, task: str, state: RobotState) -> NDArray[Any]:
        """Return (D,) for one world; states of robots come with `reset` and `step`.

        Args:
            backend: the worlds.
            env: which of them.
            task: that is to be done in it.
            state: of its robot, now.
        """
        ...


Sight = Callable[[Mapping[str, BenchmarkScene]], Senses]
"""Makes senses for the scenes of a run, by task, in whatever process its worlds are."""


class StateSenses:
    """See Senses: MetaWorld's own numbers [m], quaternions, gripper 0..1, then the task."""

    def __init__(self, tasks: Iterable[str]) -> None:
        """Number the tasks.

        Args:
            tasks: of the run; of several, one number each tells which it is.
        """
        self._tasks = list(tasks)

    @property
    def dim(self) -> int:
        """D"""
        return 21 + len(self._task(self._tasks[0]))

    def look(
        self, backend: Backend, env: int, task: str, state: RobotState | None = None
    ) -> NDArray[np.float32]:
        """See Senses; the robot's state is part of what the simulator knows.

        Raises:
            SimulationError: the simulator tells no such state.
        """
        if not isinstance(backend, MetaWorldBackend):
            raise SimulationError(
                f"{type(backend).__name__} tells no state that a policy could act on without eyes; use MetaWorld, "
                "or a policy that sees"
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
