"""The Backend of MetaWorld's tasks: N worlds of one scene with one renderer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from openral_core.errors import NotFoundError, SimulationError
from openral_sim_bridge.backend import (
    WORLD,
    CameraModel,
    RobotModel,
    StepResult,
    worlds_to_step,
)
from openral_sim_bridge.backends.metaworld.world import CONTROL_DT, MetaWorldWorld
from openral_sim_bridge.backends.mujoco_articulation import Articulation
from openral_sim_bridge.backends.mujoco_worlds import MujocoWorlds
from openral_sim_bridge.rendering.renderer import OffscreenRenderer, profile

HORIZON = 500
"""Control steps after which MetaWorld truncates an episode."""
LEVEL = 0.1
"""Cosine threshold between a camera's up axis and the world's; a camera that looks straight down is not turned."""
ROBOT_ROOT = "base"
"""Root body of the Sawyer."""

THINGS = {
    "reach": "puck",
    "push": "puck",
    "pick-place": "puck",
    "door": "door handle",
    "drawer": "drawer handle",
    "window": "window handle",
    "button": "button",
    "peg": "peg",
}
"""Prefix of a task's name -> name of the first object in its observation."""
GOALS = {"reach": "goal", "push-v3": "goal", "pick-place-v3": "goal", "peg-insert": "hole"}
"""Prefix of a task's name -> name of the place that the hand or the object is to reach."""


class MetaWorldBackend(MujocoWorlds[MetaWorldWorld]):
    """N worlds with a Sawyer at a table. All images are upright, although four of the cameras are upside down."""

    control_hz = 1.0 / CONTROL_DT
    action_dim = 4

    def __init__(
        self,
        task_ids: Sequence[str],
        *,
        num_envs: int = 1,
        width: int = 128,
        height: int = 128,
        render_profile: str = "fast",
        horizon: int | None = None,
        distractors: int = 0,
        object_outside: bool = False,
    ) -> None:
        """Build the worlds.

        Args:
            task_ids: tasks that share one MetaWorld scene, such as drawer-open-v3 and drawer-close-v3.
            num_envs: N
            width: [px] of rendered images.
            height: [px]
            render_profile: a name in `openral_sim_bridge.rendering.renderer.PROFILES`.
            horizon: control steps until `done`; None: never.
            distractors: number of additional loose objects that belong to no task.
            object_outside: whether objects begin 3 to 10 cm outside the range in which MetaWorld places them.
        """
        self.task_ids = tuple(task_ids)
        self._size = (width, height)
        self._horizon = horizon
        worlds = [
            MetaWorldWorld(self.task_ids, distractors=distractors, object_outside=object_outside)
            for _ in range(num_envs)
        ]
        model, used = worlds[0].model, profile(render_profile)
        super().__init__(
            worlds, Articulation(model, ROBOT_ROOT), lambda: OffscreenRenderer(model, width, height, used)
        )
        self._upside_down = _upside_down(model)

    def step(self, actions: NDArray[Any], envs: Sequence[int] | None = None) -> StepResult:
        """Advance worlds (None: all) by one control step with `actions` (n, A) in the scene's action contract."""
        chosen = worlds_to_step(self.num_envs, self.action_dim, actions, envs)
        worlds = [self._worlds[env] for env in chosen]
        for world, action in zip(worlds, actions, strict=True):
            world.step(action)
        verdicts = [[world.judge(task) for task in self.task_ids] for world in worlds]
        success = np.array([[verdict["success"] > 0 for verdict in row] for row in verdicts])
        reward = np.array([[verdict["unscaled_reward"] for verdict in row] for row in verdicts])
        done = [self._horizon is not None and world.steps >= self._horizon for world in worlds]
        states = [world.robot_state() for world in worlds]
        return StepResult(states, success, np.array(done), reward)

    def object_positions(self, env: int = 0) -> dict[str, NDArray[np.float64]]:
        """Return the position (3,) [m] of the task's object in MetaWorld's observation, named as in `THINGS`.

        For the tasks in `GOALS` it is followed by the position of the goal.
        """
        world = self._worlds[env]
        task = world.active_task
        seen = world.look(task)
        goal = next((goal for start, goal in GOALS.items() if task.startswith(start)), None)
        places = {} if goal is None else {goal: seen[-3:].copy()}
        return {thing_of(task): seen[4:7].copy(), **places}

    def move_object(self, name: str, by: NDArray[np.float64], env: int = 0) -> None:
        """Displace the task's object by (3,) [m] and leave it at rest. Raises SimulationError if it cannot be moved."""
        thing = thing_of(self._worlds[env].active_task)
        if name != thing:
            raise SimulationError(f"'{name}' cannot be moved here; what can is the {thing}")
        self._worlds[env].move_object(by)

    def hold_action(self, last: NDArray[Any] | None) -> NDArray[np.float64]:
        """Return the action (A,) that keeps the arm in place, given the last executed one (None: there is none).

        It is no displacement with the gripper's last command (open if there is none).
        """
        gripper = -1.0 if last is None else float(last[3])
        return np.array([0.0, 0.0, 0.0, gripper])

    def robot(self, name: str, base_frame: str, mesh_directory: Path | None = None) -> RobotModel:
        """Return the kinematic model of the robot; see `Backend.robot`."""
        return self._articulation.describe(self._worlds[0].data, name, base_frame, mesh_directory)

    def camera(self, name: str) -> CameraModel:
        """Return the model of one camera. Raises NotFoundError, which lists the existing ones."""
        index = self._camera_id(name)
        model, data = self._worlds[0].model, self._worlds[0].data
        # MuJoCo's cameras look along -z with y up; the optical frame has z forward and y down.
        rotation = data.cam_xmat[index].reshape(3, 3) @ np.diag([1.0, -1.0, -1.0])
        if index in self._upside_down:
            rotation = rotation @ np.diag([-1.0, -1.0, 1.0])
        position, parent = data.cam_xpos[index].copy(), WORLD
        body = int(model.cam_bodyid[index])
        if body:  # fixed to the hand, which MetaWorld never rotates
            turn, parent = data.xmat[body].reshape(3, 3), model.body(body).name
            position, rotation = turn.T @ (position - data.xpos[body]), turn.T @ rotation
        return CameraModel(name, *self._size, float(model.cam_fovy[index]), position, rotation, parent)

    def close(self) -> None:
        """Free renderers and worlds; call it once."""
        super().close()
        for world in self._worlds:
            world.close()

    def _upright(self, camera: int, image: NDArray[Any]) -> NDArray[Any]:
        return image[::-1, ::-1] if camera in self._upside_down else image

    def _camera_id(self, name: str) -> int:
        model = self._worlds[0].model
        index: int = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_CAMERA, name)
        if index < 0:
            names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_CAMERA, i) for i in range(model.ncam)]
            raise NotFoundError(f"MetaWorld has no camera '{name}'; it has {', '.join(names)}")
        return index


def thing_of(task_id: str) -> str:
    """Return the name of the first object in a task's observation."""
    return next((thing for start, thing in THINGS.items() if task_id.startswith(start)), "object")


def _upside_down(model: mujoco.MjModel) -> frozenset[int]:
    """Return the ids of fixed cameras that are upside down: corner to corner4; lerobot, too, turns corner2's images."""
    fixed = [index for index in range(model.ncam) if model.cam_bodyid[index] == 0]
    return frozenset(index for index in fixed if _up(model, index)[2] < -LEVEL)


def _up(model: mujoco.MjModel, camera: int) -> NDArray[np.float64]:
    axis: NDArray[np.float64] = model.cam_mat0[camera].reshape(3, 3)[:, 1]
    return axis
