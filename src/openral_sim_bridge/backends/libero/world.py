"""One world of LIBERO: a Panda with objects on a table or floor, and the success checks of its tasks.

Import it only in the sidecar's interpreter, and call `upstream.prepare` before the first world is built.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import NotFoundError, SimulationError
from openral_sim_bridge.backends.libero.upstream import LiberoTask, load_task
from openral_sim_bridge.backends.remote_sim.arm_models import PANDA
from openral_sim_bridge.backends.remote_sim.command_modes import CONTROL_HZ, OPEN, CommandMode, ExpertAction
from openral_sim_bridge.backends.remote_sim.world_service import WorldState

SETTLE_STEPS = 10
"""Control steps without motion after a stored state is set, in which objects settle, as in published evaluations."""
SEED = 0
"""Seed of numpy's global generator before every reset. The stored states do not contain the poses of fixtures, which
LIBERO draws from this generator. Published evaluations of LIBERO use seed 0, too."""


class LiberoWorld:
    """One simulated Panda. It holds one scene, and builds another when a reset's task needs it."""

    arm = PANDA

    def __init__(self, task_ids: Sequence[str], *, control: CommandMode) -> None:
        """Build the world of the first task.

        Args:
            task_ids: tasks that the world can be reset to, and whose success it reports.
            control: relative or absolute; see `step`.

        Raises:
            NotFoundError: there is no such task.
        """
        self._tasks = {task_id: load_task(task_id) for task_id in task_ids}
        self.control = control
        self._env: Any = None
        self._scene = ""
        self._observation: dict[str, NDArray[Any]] = {}
        self.steps, self.reward = 0, 0.0
        self._build(self._tasks[task_ids[0]])

    @property
    def scene(self) -> str:
        """Identifier of the scene; worlds with the same identifier have the same model."""
        return self._scene

    @property
    def model(self) -> Any:
        """mujoco.MjModel"""
        return self._env.sim.model._model

    @property
    def data(self) -> Any:
        """mujoco.MjData"""
        return self._env.sim.data._data

    def reset(self, task_id: str, init_id: int) -> None:
        """Put the world into stored state `init_id` of a task, and let it settle.

        It uses a soft reset, which costs a fortieth of a hard one, and sets the state that a soft reset omits, so that
        the following states are the same to the byte as in a new world.

        Raises:
            NotFoundError: the task does not belong to this world.
            SimulationError: there is no such state.
        """
        if task_id not in self._tasks:
            raise NotFoundError(f"task '{task_id}' is not of this scene, which has {', '.join(self._tasks)}")
        task = self._tasks[task_id]
        if not 0 <= init_id < len(task.states):
            raise SimulationError(f"init_id must be >= 0 and at most {len(task.states) - 1}, not {init_id}")
        if task.scene != self._scene:
            self._build(task)
        robot = self._env.robots[0]
        np.random.seed(SEED)
        self._env.reset()
        robot.gripper.current_action = np.zeros_like(robot.gripper.current_action)
        self._observation = self._env.set_init_state(task.states[init_id])
        robot.controller.use_delta = True
        for _ in range(SETTLE_STEPS):
            self._step(np.append(np.zeros(self.control.dim - 1), OPEN))
        robot.controller.use_delta = self.control.name == "relative"
        self.steps, self.reward = 0, 0.0

    def step(self, action: NDArray[Any]) -> None:
        """Advance by one control step of 50 ms.

        Args:
            action: (7,) displacement of the hand in units of 0.05 m and 0.5 rad (axis times angle), or, for absolute
                control, its pose [m, rad]; the last number is the gripper's, from -1 (open) to 1 (closed).

        Raises:
            SimulationError: the simulation diverged.
        """
        self._step(np.asarray(action, dtype=np.float64))
        if not np.isfinite(self.data.qpos).all():
            raise SimulationError(f"the simulation diverged at step {self.steps}; reset the scene")
        self.steps += 1

    def state(self) -> WorldState:
        """Return LIBERO's own proprioception."""
        seen, controller = self._observation, self._env.robots[0].controller
        from robosuite.utils.transform_utils import mat2quat, quat2axisangle

        return WorldState(
            joint_positions=np.concatenate([seen["robot0_joint_pos"], seen["robot0_gripper_qpos"]]),
            ee_position=np.array(seen["robot0_eef_pos"]),
            ee_quaternion=np.array(seen["robot0_eef_quat"]),
            hold_pose=np.concatenate([controller.ee_pos, quat2axisangle(mat2quat(controller.ee_ori_mat))]),
        )

    def judge(self) -> list[bool]:
        """Return for each task whether it is done, by LIBERO's own check; a task of another scene is not done."""
        return [task.scene == self._scene and self._is_done(task) for task in self._tasks.values()]

    def advice(self) -> ExpertAction:
        """Raise SimulationError, since LIBERO's tasks have no scripted experts."""
        raise SimulationError(
            "LIBERO's tasks have no scripted experts; robosuite's Lift, Stack and PickPlaceCan do"
        )

    def object_positions(self) -> dict[str, NDArray[np.float64]]:
        """Raise SimulationError, since positions of LIBERO's objects are not available."""
        raise SimulationError("LIBERO does not say where things are; deploy without sim_positions")

    def move_object(self, name: str, by: NDArray[np.float64]) -> None:
        """Raise SimulationError, since LIBERO's objects cannot be moved."""
        raise SimulationError("LIBERO cannot move things; choose another disturbance")

    def close(self) -> None:
        """Free the environment."""
        if self._env is not None:
            self._env.close()
            self._env = None

    def _is_done(self, task: LiberoTask) -> bool:
        """Return whether a task of the present scene is done, by checking its goal in the present environment."""
        problem = self._env.env.parsed_problem
        own = problem["goal_state"]
        problem["goal_state"] = task.problem["goal_state"]
        try:
            return bool(self._env.check_success())
        finally:
            problem["goal_state"] = own

    def _step(self, action: NDArray[np.float64]) -> None:
        self._observation, reward, _, _ = self._env.step(action)
        self.reward = float(reward)

    def _build(self, task: LiberoTask) -> None:
        from libero.libero.envs.env_wrapper import ControlEnv

        self.close()
        np.random.seed(SEED)
        self._env = ControlEnv(
            bddl_file_name=str(task.bddl),
            use_camera_obs=False,
            has_offscreen_renderer=False,
            hard_reset=False,
            ignore_done=True,
            control_freq=CONTROL_HZ,
        )
        self._scene = task.scene
