"""MetaWorld's own scripted experts, in the worlds of the simulation bridge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_core.scene import SceneCamera
from openral_core.types import RobotState
from openral_sim_bridge.backends.metaworld.backend import MetaWorldBackend
from openral_sim_bridge.backends.metaworld.world import make_expert
from openral_training.appearance_shift import CAMERA_OFF_M, View
from openral_training.experts.world import TaskJudgement
from openral_training.relight import Relighting

# MetaWorld's observation: hand xyz and gripper, then the first object's xyz; the goal's xyz are its last three.
_HAND, _OBJECT, _TARGET = slice(0, 3), slice(4, 7), slice(36, 39)


class MetaWorldExperts:
    """The experts of world 0 of a backend; see `ExpertWorld`."""

    def __init__(self, backend: MetaWorldBackend, cameras: Sequence[SceneCamera]) -> None:
        """Take over a backend of one world.

        Args:
            backend: is closed by `close`.
            cameras: the cameras of the scene that are rendered.
        """
        self.task_ids = backend.task_ids
        self._backend = backend
        self._keys = {camera.name: camera.feature_key or camera.name for camera in cameras}
        self._lights: Relighting | None = None
        self.begin(self.task_ids[0])

    def reset(self, task_id: str, init_id: int) -> None:
        """Put the world into a fixed initial state. Raises SimulationError as `Backend.reset`."""
        self._backend.reset([task_id], [init_id])

    def begin(self, task_id: str) -> None:
        """Start a new expert of `task_id` in the current state of the world."""
        self._task, self._expert = task_id, make_expert(task_id)

    def advice(self) -> NDArray[np.float64]:
        """Return the expert's action (4,) in -1..1 for the current state."""
        return self._backend.world(0).expert_action(self._task, self._expert)

    def hold(self, advice: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the action (A,) that holds the arm still, with the gripper command of `advice`."""
        return self._backend.hold_action(advice)

    def verdicts(self) -> dict[str, TaskJudgement]:
        """Judge every task of this world."""
        world = self._backend.world(0)
        found = {}
        for task_id in self.task_ids:
            seen, judged = world.look(task_id), world.judge(task_id)
            reach = float(np.linalg.norm(seen[_HAND] - seen[_OBJECT]))
            found[task_id] = TaskJudgement(judged["success"] > 0, reach, judged["obj_to_target"])
        return found

    def landmarks(self) -> NDArray[np.float64]:
        """Return (6,) [m, world frame]: positions of object and target of the current task; nan where unknown."""
        seen = self._backend.world(0).look(self._task)
        return np.concatenate([seen[_OBJECT], seen[_TARGET]])

    def robot_state(self) -> RobotState:
        """Return the robot's proprioception."""
        return self._backend.world(0).robot_state()

    def images(self) -> dict[str, NDArray[np.uint8]]:
        """Return (H, W, 3) uint8 RGB by feature key, for each camera of the scene."""
        return {
            self._keys[name]: frames[0] for name, frames in self._backend.render(list(self._keys)).items()
        }

    def show(self, view: View, rng: np.random.Generator) -> None:
        """Render images in a view until the next call; `rng` draws its random appearance."""
        direction = rng.normal(size=3)
        off = (
            CAMERA_OFF_M * direction / np.linalg.norm(direction) if view is View.moved_camera else np.zeros(3)
        )
        for name in self._keys:
            self._backend.world(0).move_camera(name, off)
        if self._lights is None and view is View.other_look:
            self._lights = Relighting(self._backend.renderer)
        if self._lights is not None:
            self._lights.plain()
            if view is View.other_look:
                self._lights.relight(rng)

    def step(self, action: NDArray[Any]) -> None:
        """Advance by one control step with `action` (A,)."""
        self._backend.world(0).step(action)

    def close(self) -> None:
        """Free renderers and worlds."""
        self._backend.close()
