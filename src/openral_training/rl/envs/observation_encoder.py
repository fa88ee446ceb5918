"""Observation encoders, which return the input vector of a policy; here for the state of the simulator."""

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
"""Parts of MetaWorld's observation: hand, gripper and two objects now; the position of the goal. Entries 18 to 35 are
those of the step before and are left out."""


class ObservationEncoder(Protocol):
    """Returns the observation of an environment, which depends on the state of that environment alone."""

    @property
    def dim(self) -> int:
        """Length D of an observation."""
        ...

    def encode(self, backend: Backend, env: int, task: str, state: RobotState) -> NDArray[Any]:
        """Return (D,) for one environment.

        Args:
            backend: the simulator.
            env: index of the environment in it.
            task: the task of the episode.
            state: of its robot, as `reset` and `step` return it.
        """
        ...


EncoderFactory = Callable[[Mapping[str, BenchmarkScene]], ObservationEncoder]
"""(scenes of a run, by task) -> encoder; it is called in every process that has environments."""


class StateEncoder:
    """Encodes an environment as MetaWorld's positions [m], quaternions and gripper opening 0..1, then the task."""

    def __init__(self, tasks: Iterable[str]) -> None:
        """Number the tasks.

        Args:
            tasks: of the run; where there are several, the observation ends with a one-hot vector of the task.
        """
        self._tasks = list(tasks)

    @property
    def dim(self) -> int:
        """Length D of an observation."""
        return 21 + len(self._task(self._tasks[0]))

    def encode(
        self, backend: Backend, env: int, task: str, state: RobotState | None = None
    ) -> NDArray[np.float32]:
        """Return (D,) for one environment; `state` is not used, since the simulator's state includes the robot.

        Raises:
            SimulationError: the simulator is not MetaWorld.
        """
        if not isinstance(backend, MetaWorldBackend):
            raise SimulationError(
                f"env.scene: {type(backend).__name__} has no state observation for actor.model.model_type mlp; use a "
                "scene of MetaWorld, or model_type mini or tokens, which act on images"
            )
        observed = backend.world(env).look(task)
        return self.observation(np.concatenate([observed[_NOW], observed[_GOAL]]), task)

    def observation(self, state: NDArray[Any], task: str) -> NDArray[np.float32]:
        """Return (D,) of a state (21,), simulated or imagined, and the task."""
        return np.concatenate([state, self._task(task)]).astype(np.float32)

    def _task(self, task: str) -> NDArray[np.float64]:
        """Return the one-hot vector of a task; (0,) where there is only one."""
        count = len(self._tasks)
        return np.eye(count)[self._tasks.index(task)] if count > 1 else np.zeros(0)
