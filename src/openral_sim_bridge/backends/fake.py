"""A point arm without dynamics: a minimal `Backend` for tests and trials of nodes.

The arm is a gantry of three slides with a finger. An action moves it exactly as commanded, so every state
can be predicted. Task k is to reach the k-th of a row of points. Nothing is random, and no OpenGL is needed.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from openral_core.errors import NotFoundError, SimulationError
from openral_core.types import RobotState
from openral_sim_bridge.backend import (
    CameraModel,
    RobotModel,
    Snapshot,
    StepResult,
    worlds_to_reset,
    worlds_to_step,
)
from openral_sim_bridge.backends.mujoco_articulation import Articulation, restore_snapshot, take_snapshot
from openral_sim_bridge.coordinate_frames import intrinsics

STEP_M = 0.01
"""[m] displacement of the end effector per control step for an action of 1, as in MetaWorld."""
REACH_M = 0.03
"""[m] distance to its point below which a task has succeeded."""
HOME = (0.0, 0.6, 0.2)
"""[m] position of the hand in initial state 0, in the world frame."""
OPENING_M = 0.1
"""[m] distance between the open fingers."""
CAMERAS = ("corner2", "front", "wrist")
"""Names of the cameras, all of which have the same pose."""
JOINT_NAMES = (*(f"right_j{i}" for i in range(7)), "right_gripper")
"""Those of the Sawyer, so that its robot.yaml and its skills can be used; the slides are the first three."""
_LOW, _HIGH = np.array([-0.5, 0.2, 0.0]), np.array([0.5, 1.0, 0.5])

_MJCF = """
<mujoco>
  <worldbody>
    <body name="right_arm_base_link">
      <geom type="box" size="0.02 0.02 0.02"/>
      <body name="carriage_x"><joint name="right_j0" type="slide" axis="1 0 0" range="-1 1" limited="true"/>
        <geom type="box" size="0.02 0.02 0.02"/>
        <body name="carriage_y"><joint name="right_j1" type="slide" axis="0 1 0" range="-1 1" limited="true"/>
          <geom type="box" size="0.02 0.02 0.02"/>
          <body name="hand"><joint name="right_j2" type="slide" axis="0 0 1" range="-1 1" limited="true"/>
            <geom type="sphere" size="0.02"/>
            <body name="finger" pos="0 0.01 0"><joint name="r_close" type="slide" axis="0 1 0" range="0 0.1"
              limited="true"/><geom type="box" size="0.01 0.005 0.02"/></body>
          </body>
        </body>
      </body>
    </body>
    <body name="mocap" mocap="true"/>
    <camera name="corner2" pos="0 -0.6 0.5" xyaxes="1 0 0 0 0.3 1" fovy="60"/>
  </worldbody>
</mujoco>
"""


class FakeBackend:
    """N point arms that follow every command exactly; see the module's docstring."""

    action_dim = 4

    def __init__(
        self,
        task_ids: Sequence[str],
        *,
        num_envs: int = 1,
        width: int = 128,
        height: int = 128,
        control_hz: float = 80.0,
        horizon: int | None = None,
        fail_after: int | None = None,
        hang_in: int | None = None,
    ) -> None:
        """Build the worlds.

        Args:
            task_ids: any names; each task gets a point of its own.
            num_envs: N
            width: [px] of rendered images.
            height: [px] of rendered images.
            control_hz: [Hz] rate of `step`.
            horizon: control steps until an episode is done; None: never.
            fail_after: control steps after which `step` raises SimulationError; None: never.
            hang_in: initial state in which `step` never returns; None: it always returns.
        """
        self.task_ids = tuple(task_ids)
        self.num_envs = num_envs
        self.control_hz = control_hz
        self._size = (width, height)
        self._horizon = horizon
        self._fail_after, self._hang_in = fail_after, hang_in
        self._model = mujoco.MjModel.from_xml_string(_MJCF)
        self._articulation = Articulation(self._model, "right_arm_base_link")
        self._data = [mujoco.MjData(self._model) for _ in range(num_envs)]
        self._steps = np.zeros(num_envs, dtype=np.int64)
        self._init_ids = [0] * num_envs
        self.reset([self.task_ids[0]] * num_envs, [0] * num_envs)

    def target(self, task_id: str) -> NDArray[np.float64]:
        """Return the point (3,) [m] in the world frame that a task is to reach."""
        offset = 0.15 * (self.task_ids.index(task_id) + 1)
        return np.array([offset - 0.3, HOME[1] + 0.1, HOME[2]])

    def reset(
        self, task_ids: Sequence[str], init_ids: Sequence[int], envs: Sequence[int] | None = None
    ) -> list[RobotState]:
        """Put worlds into given initial states and return their robot states.

        In state i the hand begins (i modulo 50) mm from `HOME` along y.
        """
        chosen = worlds_to_reset(self.num_envs, task_ids, init_ids, envs)
        for env, task_id, init_id in zip(chosen, task_ids, init_ids, strict=True):
            if task_id not in self.task_ids:
                raise NotFoundError(
                    f"task '{task_id}' is not of this scene, which has {', '.join(self.task_ids)}"
                )
            self._steps[env], self._init_ids[env] = 0, init_id
            self._place(env, np.array([HOME[0], HOME[1] + 0.001 * (init_id % 50), HOME[2]]), OPENING_M)
        return [self._state(env) for env in chosen]

    def step(self, actions: NDArray[Any], envs: Sequence[int] | None = None) -> StepResult:
        """Advance worlds (None: all) by one control step with `actions` (n, A) in the scene's action contract.

        The reward is the negative distance [m] to the task's point.
        """
        chosen = worlds_to_step(self.num_envs, self.action_dim, actions, envs)
        if self._hang_in in [self._init_ids[env] for env in chosen]:
            threading.Event().wait()
        self._steps[chosen] += 1
        if self._fail_after is not None and self._steps.max() > self._fail_after:
            raise SimulationError(
                f"the fake simulator fails after {self._fail_after} steps, as its scene asked"
            )
        for env, action in zip(chosen, actions, strict=True):
            position = self._data[env].qpos[:3] + STEP_M * np.asarray(action[:3], dtype=np.float64)
            opening = self._data[env].qpos[3] - 0.01 * float(action[3])
            self._place(env, np.clip(position, _LOW, _HIGH), float(np.clip(opening, 0.0, OPENING_M)))
        states = [self._state(env) for env in chosen]
        targets = np.stack([self.target(task) for task in self.task_ids])
        distance = np.stack([np.linalg.norm(targets - state.ee_position, axis=1) for state in states])
        done = [self._horizon is not None and self._steps[env] >= self._horizon for env in chosen]
        return StepResult(states, distance < REACH_M, np.array(done), -distance)

    def render(
        self, cameras: Sequence[str], envs: Sequence[int] | None = None
    ) -> dict[str, NDArray[np.uint8]]:
        """Return images (n, H, W, 3) uint8 RGB for each camera, of the worlds `envs` (None: all).

        They show a grey floor from above and the arm as a bright disc, which is yellow with open fingers and red with
        closed ones.
        """
        chosen = range(self.num_envs) if envs is None else envs
        for camera in cameras:
            self.camera(camera)
        frames = np.stack([self._picture(env) for env in chosen])
        return {camera: frames.copy() for camera in cameras}

    def render_depth(
        self, cameras: Sequence[str], envs: Sequence[int] | None = None
    ) -> dict[str, NDArray[np.float32]]:
        """Return depth (n, H, W) float32 [m] along the optical axis for each camera.

        It is that of an empty floor at z = 0, whatever `render` shows, and inf above the horizon.
        """
        chosen = range(self.num_envs) if envs is None else envs
        floors = {camera: _floor_depth(self.camera(camera)) for camera in cameras}
        return {camera: np.stack([floor] * len(chosen)) for camera, floor in floors.items()}

    def object_positions(self, env: int = 0) -> dict[str, NDArray[np.float64]]:
        """Return the point (3,) [m] in the world frame of each task, by task."""
        return {task: self.target(task) for task in self.task_ids}

    def hold_action(self, last: NDArray[Any] | None) -> NDArray[np.float64]:
        """Return the action (A,) that keeps the arm in place, given the last executed one (None: there is none)."""
        return np.array([0.0, 0.0, 0.0, -1.0 if last is None else float(last[3])])

    def robot(self, name: str, base_frame: str, mesh_directory: Path | None = None) -> RobotModel:
        """Return the kinematic model of the robot; see `Backend.robot`."""
        return self._articulation.describe(self._data[0], name, base_frame, mesh_directory)

    def joint_positions(self, env: int = 0) -> dict[str, float]:
        """Return the position [rad or m] of each joint of the robot's URDF."""
        return self._articulation.positions(self._data[env])

    def snapshot(self, env: int = 0) -> Snapshot:
        """Return the present snapshot of one world."""
        return take_snapshot(self._data[env])

    def restore(self, snapshot: Snapshot, env: int = 0) -> None:
        """Set one world to a snapshot; see `Backend.restore`."""
        restore_snapshot(self._model, self._data[env], snapshot)

    def camera(self, name: str) -> CameraModel:
        """Return the model of one camera. Raises NotFoundError, which lists the existing ones."""
        if name not in CAMERAS:
            raise NotFoundError(f"the fake world has no camera '{name}'; it has {', '.join(CAMERAS)}")
        camera = self._data[0].cam("corner2")
        rotation = camera.xmat.reshape(3, 3) @ np.diag([1.0, -1.0, -1.0])
        fovy = float(self._model.cam_fovy[0])
        return CameraModel(name, self._size[0], self._size[1], fovy, camera.xpos.copy(), rotation)

    def close(self) -> None:
        """Do nothing, since there are no resources to free."""

    def _place(self, env: int, position: NDArray[np.float64], opening: float) -> None:
        data = self._data[env]
        data.qpos[:] = [*position, opening]
        data.mocap_pos[0] = position
        mujoco.mj_forward(self._model, data)

    def _state(self, env: int) -> RobotState:
        x, y, z, opening = self._data[env].qpos
        return RobotState(
            stamp_s=float(self._steps[env] / self.control_hz),
            joint_names=JOINT_NAMES,
            joint_positions=np.array([x, y, z, 0.0, 0.0, 0.0, 0.0, opening]),
            ee_position=np.array([x, y, z]),
            ee_quaternion=np.array([0.0, 0.0, 0.0, 1.0]),
            gripper_opening=float(opening),
        )

    def _picture(self, env: int) -> NDArray[np.uint8]:
        width, height = self._size
        x, y, z, opening = self._data[env].qpos
        column, row = (np.array([x, y]) - _LOW[:2]) / (_HIGH - _LOW)[:2] * [width - 1, height - 1]
        rows, columns = np.ogrid[0:height, 0:width]
        image = np.full((height, width, 3), 90, dtype=np.uint8)
        disc = (columns - column) ** 2 + (rows - (height - 1 - row)) ** 2 < (
            0.03 * width + 0.1 * width * z
        ) ** 2
        image[disc] = (255, int(255 * opening / OPENING_M), 40)
        return image


def _floor_depth(camera: CameraModel) -> NDArray[np.float32]:
    """Return depth (H, W) [m] where the ray through the centre of each pixel meets z = 0; inf where it does not."""
    focal = intrinsics(camera)[0, 0]
    rows, columns = np.mgrid[0 : camera.height, 0 : camera.width] + 0.5
    rays = np.stack(
        [columns - camera.width / 2, rows - camera.height / 2, np.full(rows.shape, focal)], axis=-1
    )
    fall = -(rays / focal) @ camera.rotation[2]
    with np.errstate(divide="ignore"):
        depth = np.where(fall > 0.0, camera.position[2] / fall, np.inf)
    return depth.astype(np.float32)
