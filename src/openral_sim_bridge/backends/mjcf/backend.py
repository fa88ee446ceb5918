"""The Backend of scenes of family `mjcf`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from openral_core.errors import NotFoundError, SimulationError
from openral_core.robot import RobotDescription, load_robot
from openral_core.scene import DeployScene
from openral_sim_bridge.backend import (
    WORLD,
    CameraModel,
    RobotModel,
    StepResult,
    worlds_to_step,
)
from openral_sim_bridge.backends.mjcf.control import JOINTS
from openral_sim_bridge.backends.mjcf.gripper import OPEN
from openral_sim_bridge.backends.mjcf.name_lookup import SHOWN
from openral_sim_bridge.backends.mjcf.world import CompiledScene, MjcfWorld
from openral_sim_bridge.backends.mujoco_worlds import MujocoWorlds
from openral_sim_bridge.rendering.renderer import OffscreenRenderer, profile


class MjcfBackend(MujocoWorlds[MjcfWorld]):
    """N worlds of one compiled scene."""

    def __init__(
        self, scene: DeployScene, robot: RobotDescription, *, num_envs: int = 1, horizon: int | None = None
    ) -> None:
        """Compile the scene and build its worlds in the initial state `scene.init_id`; see `open_mjcf`."""
        used = profile(str(scene.scene.backend_options.get("render_profile", "published")))
        self._scene = CompiledScene(scene, robot)
        self.control_hz = scene.control_hz
        self.action_dim = scene.action.dim
        self.task_ids = self._scene.options.tasks
        self._horizon = horizon
        self._size = (scene.scene.observation_width, scene.scene.observation_height)
        model, hidden = self._scene.model, self._scene.options.hidden_groups
        super().__init__(
            [MjcfWorld(self._scene) for _ in range(num_envs)],
            self._scene.articulation(robot),
            lambda: OffscreenRenderer(model, *self._size, used, hidden_groups=hidden),
        )
        self.reset([self.task_ids[0]] * num_envs, [scene.init_id] * num_envs)
        for camera in scene.cameras:
            self.camera(camera.name)

    def step(self, actions: NDArray[Any], envs: Sequence[int] | None = None) -> StepResult:
        """Advance worlds (None: all) by one control step with `actions` (n, A) in the scene's action contract."""
        chosen = worlds_to_step(self.num_envs, self.action_dim, actions, envs)
        worlds = [self._worlds[env] for env in chosen]
        for world, action in zip(worlds, actions, strict=True):
            world.step(action)
        success = [[world.judge(task) for task in self.task_ids] for world in worlds]
        done = [self._horizon is not None and world.steps >= self._horizon for world in worlds]
        return StepResult([world.robot_state() for world in worlds], np.array(success), np.array(done))

    def object_positions(self, env: int = 0) -> dict[str, NDArray[np.float64]]:
        """Return the position (3,) [m] in the world of each named body outside the robot, by its name in the model."""
        model, data = self._scene.model, self._worlds[env].data
        others = [body for body in range(1, model.nbody) if self._articulation.link_of(body) is None]
        named = {model.body(body).name: np.array(data.xpos[body]) for body in others}
        return {name: position for name, position in named.items() if name}

    def hold_action(self, last: NDArray[Any] | None) -> NDArray[np.float64]:
        """Return the action (A,) that keeps the arm in place, given the last executed one (None: there is none).

        It keeps the target of world 0 and the last command of the gripper, which is open if there is none.
        """
        scene = self._scene
        action = np.zeros(self.action_dim)
        if scene.action.representation == JOINTS:
            action[: scene.arm_numbers] = self._worlds[0].control.joints
        if self.action_dim > scene.arm_numbers:
            action[-1] = OPEN if last is None else float(last[-1])
        return action

    def robot(self, name: str, base_frame: str, mesh_directory: Path | None = None) -> RobotModel:
        """Return the kinematic model of the robot; see `Backend.robot`."""
        base = self._scene.naming.in_model(base_frame)
        return self._articulation.describe(self._worlds[0].data, name, base, mesh_directory)

    def camera(self, name: str) -> CameraModel:
        """Return the model of one camera.

        Raises:
            NotFoundError: there is no such camera; the text lists the existing ones.
            SimulationError: the camera tracks or targets a body, is fixed to a moving body outside the robot, is
                orthographic, or has a `sensorsize`, so that `fovy` does not describe its lens.
        """
        index, model, data = self._camera_id(name), self._scene.model, self._worlds[0].data
        if model.cam_mode[index] != mujoco.mjtCamLight.mjCAMLIGHT_FIXED:
            raise SimulationError(f'camera {name} turns by itself; write mode="fixed" in the model')
        if model.cam_orthographic[index]:  # its fovy is a length [m]
            what = "is orthographic, and images have a perspective here"
            raise SimulationError(f'camera {name} {what}; remove orthographic="true" in the model')
        if model.cam_sensorsize[index].any():
            raise SimulationError(f"camera {name} has a sensorsize; describe its lens by fovy in the model")
        body = int(model.cam_bodyid[index])
        parent = self._articulation.link_of(body)
        if parent is not None:
            position, rotation = model.cam_pos[index].copy(), np.zeros(9)
            mujoco.mju_quat2Mat(rotation, model.cam_quat[index])
        elif model.body_weldid[body] == 0:
            position, rotation = data.cam_xpos[index].copy(), data.cam_xmat[index].copy()
        else:
            raise SimulationError(
                f"camera {name} rides on body {model.body(body).name}, which moves and is not of the robot; "
                "fix it to the world or to a link"
            )
        # MuJoCo's cameras look along -z with y up; the optical frame has z forward and y down.
        optical = rotation.reshape(3, 3) @ np.diag([1.0, -1.0, -1.0])
        width, height = self._size
        return CameraModel(
            name, width, height, float(model.cam_fovy[index]), position, optical, parent or WORLD
        )

    def _camera_id(self, name: str) -> int:
        index = int(mujoco.mj_name2id(self._scene.model, mujoco.mjtObj.mjOBJ_CAMERA, name))
        if index < 0:
            names = self._scene.naming.known(mujoco.mjtObj.mjOBJ_CAMERA)
            known = f"it has {', '.join(names[:SHOWN])}" if names else "it has none; add a <camera>"
            raise NotFoundError(f"{self._scene.options.model} has no camera '{name}'; {known}")
        return index


def open_mjcf(scene: DeployScene, *, num_envs: int = 1, horizon: int | None = None) -> MjcfBackend:
    """Build the worlds of a scene.

    Args:
        scene: of family `mjcf`, whose model's path is relative to the scene file.
        num_envs: N
        horizon: control steps until `done`; None: never.

    Raises:
        ManifestError: the model lacks names that the scene uses; the text has one line with its fix for each.
        NotFoundError: there is no such robot, camera or render profile.
        SimulationError: the robot or a camera cannot be described, or the first initial state diverges.
    """
    return MjcfBackend(scene, load_robot(scene.robot_id), num_envs=num_envs, horizon=horizon)
