"""Scripted experts of robosuite, which run in the simulator's own process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import SimulationError
from openral_core.scene import SceneCamera
from openral_core.types import RobotState
from openral_sim_bridge.backends.remote_sim.backend import ArmBackend
from openral_sim_bridge.backends.remote_sim.command_modes import ExpertAction
from openral_training.appearance_shift import View
from openral_training.experts.world import TaskJudgement


class RobosuiteExperts:
    """The expert of world 0 of a backend, see `ExpertWorld`; robosuite judges one task in each world."""

    def __init__(self, backend: ArmBackend, cameras: Sequence[SceneCamera]) -> None:
        """Take over a backend of one world.

        Args:
            backend: is closed by `close`.
            cameras: the cameras of the scene that are rendered.

        Raises:
            SimulationError: there is no expert for the task.
        """
        self.task_ids = backend.task_ids
        self._backend = backend
        self._keys = {camera.name: camera.feature_key or camera.name for camera in cameras}
        self.reset(self.task_ids[0], 0)

    def reset(self, task_id: str, init_id: int) -> None:
        """Put the world into a fixed initial state. Raises SimulationError as `Backend.reset`."""
        [self._state] = self._backend.reset([task_id], [init_id])
        self._task, self._solved = task_id, False
        self._advice: ExpertAction = self._backend.advice()

    def begin(self, task_id: str) -> None:
        """Start an expert of `task_id` in the current state of the world; these experts have no memory."""

    def advice(self) -> NDArray[np.float64]:
        """Return the expert's action (7,) in -1..1 for the current state."""
        return self._advice.action

    def hold(self, advice: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the action (A,) that holds the arm still, with the gripper command of `advice`."""
        return self._backend.hold_action(advice)

    def verdicts(self) -> dict[str, TaskJudgement]:
        """Judge every task of this world."""
        thing, goal = self._advice.thing, self._advice.goal
        reach = float(np.linalg.norm(self._state.ee_position - thing))
        return {self._task: TaskJudgement(self._solved, reach, float(np.linalg.norm(goal - thing)))}

    def landmarks(self) -> NDArray[np.float64]:
        """Return (6,) [m, world frame]: positions of object and target of the current task; nan where unknown."""
        return np.concatenate([self._advice.thing, self._advice.goal])

    def robot_state(self) -> RobotState:
        """Return the robot's proprioception."""
        return self._state

    def images(self) -> dict[str, NDArray[np.uint8]]:
        """Return (H, W, 3) uint8 RGB by feature key, for each camera of the scene."""
        return {
            self._keys[name]: frames[0] for name, frames in self._backend.render(list(self._keys)).items()
        }

    def show(self, view: View, rng: np.random.Generator) -> None:
        """Render images in a view until the next call; only the plain view is supported.

        Raises:
            SimulationError: the view is another one.
        """
        if view is not View.plain:
            raise SimulationError(
                f"view '{view.value}': robosuite's pictures are drawn in its own process, plain"
            )

    def step(self, action: NDArray[Any]) -> None:
        """Advance by one control step with `action` (A,)."""
        result = self._backend.step(np.clip(action, -1.0, 1.0)[None])
        [self._state] = result.states
        self._solved = bool(result.success[0, self.task_ids.index(self._task)])
        self._advice = self._backend.advice()

    def close(self) -> None:
        """Free renderers and worlds."""
        self._backend.close()
