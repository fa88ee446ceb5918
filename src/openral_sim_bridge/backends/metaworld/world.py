"""One world of a MetaWorld scene that several tasks share.

drawer-open and drawer-close, or window-open and window-close, are the same MuJoCo model with different goals. A world
steps the environment of one task and copies its state to those of the others, so that a mission can go from one task to
the next without a reset, and the success of each task is still computed by MetaWorld's own code.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import mujoco
import numpy as np
from metaworld.policies import ENV_POLICY_MAP
from numpy.typing import NDArray

from openral_core.errors import NotFoundError, SimulationError
from openral_core.types import RobotState
from openral_sim_bridge.backends.metaworld.env import DISTRACTOR, make_env
from openral_sim_bridge.backends.metaworld.initial_states import check_task, outside_vector, random_vector

CONTROL_DT = 0.0125
"""[s] control step: frame_skip 5 times 2.5 ms, which is 80 Hz."""
WIDE_OPEN_M = 0.1
"""[m] distance between the fingers at which the opening in MetaWorld's observation is 1."""
W_LAST = [1, 2, 3, 0]
"""Indices that reorder MuJoCo's w, x, y, z to x, y, z, w."""
JOINTS = tuple(f"right_j{i}" for i in range(7))
GRIPPER_JOINT = "right_gripper"
STREWN = ((-0.25, 0.5), (0.25, 0.85))
"""[m] low and high corner (x, y) of the part of the table on which distractors lie."""
STREWN_APART_M = 0.1
"""[m] least horizontal distance of a distractor from the object, the goal, the hand and other distractors."""
TRIES = 1000
"""Most places that are drawn for one distractor."""
CORNER2_POSITION = (0.75, 0.075, 0.7)
"""[m] position of the camera corner2 in lerobot's MetaWorld environment, on which datasets and checkpoints depend."""


class MetaWorldWorld:
    """One simulated Sawyer, with an environment of MetaWorld for each task of its scene."""

    def __init__(
        self, task_ids: tuple[str, ...], *, distractors: int = 0, object_outside: bool = False
    ) -> None:
        """Build the environments.

        Args:
            task_ids: tasks that share one MetaWorld scene.
            distractors: number of additional loose objects that belong to no task.
            object_outside: whether objects begin outside the range in which MetaWorld places them (`outside_vector`).

        Raises:
            NotFoundError: a task does not exist.
            SimulationError: the tasks do not share one MuJoCo model.
        """
        for task_id in task_ids:
            check_task(task_id)
        self.task_ids = task_ids
        self._envs = {task: make_env(task, distractors) for task in task_ids}
        self._distractors, self._vector = distractors, outside_vector if object_outside else random_vector
        models = {env.model_name for env in self._envs.values()}
        if len(models) > 1:
            raise SimulationError(
                f"tasks {', '.join(task_ids)} do not share one scene; put them in scenes of their own"
            )
        for env in self._envs.values():
            env._freeze_rand_vec = True
            env._partially_observable = False
            env._set_task_called = True
            env.__dict__.pop("sawyer_observation_space", None)
            camera = mujoco.mj_name2id(env.model, mujoco.mjtObj.mjOBJ_CAMERA, "corner2")
            env.model.cam_pos[camera] = CORNER2_POSITION
        self._active = task_ids[0]
        self._hand, self._right, self._left = (
            int(self.model.body(name).id) for name in ("hand", "rightclaw", "leftclaw")
        )
        self._camera_positions = self.model.cam_pos.copy(), self.model.cam_pos0.copy()
        self._last_action = np.zeros(4)
        self.steps = 0

    @property
    def env(self) -> Any:
        """The MetaWorld environment whose physics is stepped."""
        return self._envs[self._active]

    @property
    def model(self) -> mujoco.MjModel:
        """The model of the stepped environment."""
        return self.env.model

    @property
    def data(self) -> mujoco.MjData:
        """The state of the stepped environment."""
        return self.env.data

    @property
    def active_task(self) -> str:
        """The task that the world was reset to."""
        return self._active

    def move_camera(self, name: str, offset_m: NDArray[np.float64]) -> None:
        """Move a camera to its original position plus `offset_m` (3,) [m], for every task.

        Cameras that stand still or turn with their body have `cam_pos`, those that follow a body without turning
        `cam_pos0`.
        """
        camera = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_CAMERA, name)
        fixed, following = self._camera_positions
        for env in self._envs.values():
            env.model.cam_pos[camera] = fixed[camera] + offset_m
            env.model.cam_pos0[camera] = following[camera] + offset_m

    def reset(self, task_id: str, init_id: int) -> None:
        """Put the world into initial state `init_id` of `task_id`, with the environments of all tasks."""
        if task_id not in self._envs:
            raise NotFoundError(
                f"task '{task_id}' is not of this scene, which has {', '.join(self.task_ids)}"
            )
        vector = self._vector(task_id, init_id)
        for env in self._envs.values():
            env._last_rand_vec = vector.copy()
            env.reset()
        self._active = task_id
        self._last_action = np.zeros(4)
        self.steps = 0
        mujoco.mj_forward(self.model, self.data)
        self._strew(init_id)

    def step(self, action: NDArray[Any]) -> None:
        """Advance by one control step of 12.5 ms with `action` (4,): x, y, z in units of 1 cm, and gripper effort.

        Raises:
            SimulationError: the simulation diverged.
        """
        env = self.env
        self._last_action = np.asarray(action, dtype=np.float64).clip(-1.0, 1.0)
        env.set_xyz_action(self._last_action[:3])
        # As gymnasium's do_simulation, without its computation of forces after the step, which are not used.
        env.data.ctrl[:] = self._last_action[3], -self._last_action[3]
        mujoco.mj_step(env.model, env.data, nstep=env.frame_skip)
        mujoco.mj_forward(env.model, env.data)
        if not np.isfinite(env.data.qpos).all():
            raise SimulationError(
                f"{self._active}: the simulation diverged at step {self.steps}; reset the scene"
            )
        self.steps += 1

    def move_object(self, by: NDArray[np.float64]) -> None:
        """Displace the scene's free object by (3,) [m] and leave it at rest.

        Raises:
            SimulationError: the scene has no free object.
        """
        free = np.flatnonzero(self.model.jnt_type == mujoco.mjtJoint.mjJNT_FREE)
        if not len(free):
            raise SimulationError(f"{self._active}: nothing in this scene is loose, so nothing can be moved")
        place, speed = (int(address[free[0]]) for address in (self.model.jnt_qposadr, self.model.jnt_dofadr))
        self.data.qpos[place : place + 3] += by
        self.data.qvel[speed : speed + 6] = 0.0
        mujoco.mj_forward(self.model, self.data)

    def look(self, task_id: str) -> NDArray[np.float64]:
        """Return MetaWorld's own observation (39,) of the present state, as defined by the task.

        Its part for the previous observation repeats the present one, so that success depends on one state alone.
        """
        env = self._envs[task_id]
        if env is not self.env:
            self._copy_state(env)
        now = self._numbers(env)
        return np.concatenate([now, now, env._get_pos_goal()])

    def _numbers(self, env: Any) -> NDArray[np.float64]:
        """Return MetaWorld's `_get_curr_obs_combined_no_goal` (18,): hand, opening, seven numbers per object, zeros.

        MetaWorld's own function takes three times as long, an eighth of a control step.
        """
        data, numbers = env.data, np.zeros(18)
        apart = data.xpos[self._right] - data.xpos[self._left]
        numbers[:3] = data.xpos[self._hand]
        numbers[3] = min(math.sqrt(apart @ apart) / WIDE_OPEN_M, 1.0)
        positions = env._get_pos_objects().reshape(-1, 3)
        objects = numbers[4 : 4 + 7 * len(positions)].reshape(-1, 7)
        objects[:, :3], objects[:, 3:] = positions, env._get_quat_objects().reshape(-1, 4)
        return numbers

    def judge(self, task_id: str) -> dict[str, float]:
        """Return MetaWorld's own evaluation of the present state: success, near_object, obj_to_target and others."""
        observation = self.look(task_id)
        _, info = self._envs[task_id].evaluate_state(observation, self._last_action.astype(np.float32))
        return {key: float(value) for key, value in info.items()}

    def expert_action(self, task_id: str, expert: Any) -> NDArray[np.float64]:
        """Return the scripted expert's action (4,), each -1 to 1, for the present state."""
        action = expert.get_action(self.look(task_id))
        return np.clip(np.asarray(action, dtype=np.float64), -1.0, 1.0)

    def robot_state(self) -> RobotState:
        """Return the robot's state; the end effector is the body `hand` in the world frame."""
        data = self.data
        apart = data.xpos[self._right] - data.xpos[self._left]
        opening = math.sqrt(apart @ apart)
        return RobotState(
            stamp_s=self.steps * CONTROL_DT,
            joint_names=(*JOINTS, GRIPPER_JOINT),
            joint_positions=np.concatenate((data.qpos[:7], (opening,))),
            ee_position=data.xpos[self._hand].copy(),
            ee_quaternion=data.xquat[self._hand][W_LAST],
            gripper_opening=opening,
            ee_target=data.mocap_pos[0].copy(),
        )

    def close(self) -> None:
        """Close every environment."""
        for env in self._envs.values():
            env.close()

    def _strew(self, init_id: int) -> None:
        """Place the distractors on the table, away from object, goal, hand and each other; `init_id` is the seed.

        Raises:
            SimulationError: there is no room for them.
        """
        rng = np.random.default_rng([init_id, 2])
        seen = self.look(self._active)
        taken = [seen[4:6], seen[-3:-1], self.data.xpos[self._hand][:2]]
        for index in range(self._distractors):
            spots = (rng.uniform(*STREWN) for _ in range(TRIES))
            far = (
                s for s in spots if min(float(np.linalg.norm(s - other)) for other in taken) >= STREWN_APART_M
            )
            spot = next(far, None)
            if spot is None:
                raise SimulationError(
                    f"{self._active}: {self._distractors} distractors found no room; write fewer"
                )
            taken.append(spot)
            free = self.data.joint(int(self.model.body(f"{DISTRACTOR}{index}").jntadr[0]))
            free.qpos[:] = [*spot, 0.021, 1.0, 0.0, 0.0, 0.0]
            free.qvel[:] = 0.0
        if self._distractors:
            mujoco.mj_forward(self.model, self.data)

    def _copy_state(self, env: Any) -> None:
        """Copy the state of the stepped environment (bodies, joints, mocap and controls) to another task's."""
        source, target = self.data, env.data
        env.model.body_pos[:] = self.model.body_pos
        env.model.body_quat[:] = self.model.body_quat
        target.qpos[:], target.qvel[:] = source.qpos, source.qvel
        target.mocap_pos[:], target.mocap_quat[:] = source.mocap_pos, source.mocap_quat
        target.ctrl[:] = source.ctrl
        mujoco.mj_forward(env.model, target)


def make_expert(task_id: str) -> Any:
    """Return MetaWorld's scripted expert of a task, which has a method `get_action(observation (39,)) -> (4,)`."""
    check_task(task_id)
    # MetaWorld's experts command more than -1 to 1 and warn about it in their first steps; actions are clipped.
    warnings.filterwarnings("ignore", r"Constant\(s\) may be too high", UserWarning)
    expert: type[Any] = ENV_POLICY_MAP[task_id]
    return expert()
