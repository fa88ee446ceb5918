"""One world of robosuite: an arm with a table or bins, and robosuite's own success check.

Import it only in the sidecar's interpreter.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import NotFoundError, SimulationError
from openral_sim_bridge.backends.remote_sim.arm_models import ArmModel
from openral_sim_bridge.backends.remote_sim.command_modes import CONTROL_HZ, OPEN, CommandMode, ExpertAction
from openral_sim_bridge.backends.remote_sim.world_service import WorldState
from openral_sim_bridge.backends.robosuite.expert import EXPERTS
from openral_sim_bridge.backends.robosuite.privileged_state import look
from openral_sim_bridge.backends.robosuite.things import begin_outside, move, positions

TASKS = ("Lift", "Stack", "PickPlaceCan", "Door", "NutAssembly")
LAST_INIT_ID = 999_999


class RobosuiteWorld:
    """One simulated arm. It holds the environment of one task, and builds another when a reset changes the task."""

    def __init__(
        self, task_ids: Sequence[str], arm: ArmModel, control: CommandMode, *, object_outside: bool = False
    ) -> None:
        """Build the world of the first task.

        Args:
            task_ids: tasks that the world can be reset to, and whose success it reports.
            arm: of the world.
            control: relative or joints; see `step`.
            object_outside: whether cubes begin outside robosuite's range (`things.begin_outside`).

        Raises:
            NotFoundError: there is no such task.
        """
        unknown = sorted(set(task_ids) - set(TASKS))
        if unknown:
            raise NotFoundError(f"robosuite has no task '{unknown[0]}' here; it has {', '.join(TASKS)}")
        # robosuite logs warnings about private macros and optional packages that are not needed here.
        logging.getLogger("robosuite_logs").setLevel(logging.ERROR)
        self._task_ids = tuple(task_ids)
        self.arm, self.control, self._outside = arm, control, object_outside
        self._env: Any = None
        self._task = ""
        self._observation: dict[str, NDArray[Any]] = {}
        self.steps, self.reward = 0, 0.0
        self._build(task_ids[0])

    @property
    def scene(self) -> str:
        """Name of the scene, which is the present task, since each task has a scene of its own."""
        return self._task

    @property
    def model(self) -> Any:
        """mujoco.MjModel"""
        return self._env.sim.model._model

    @property
    def data(self) -> Any:
        """mujoco.MjData"""
        return self._env.sim.data._data

    def reset(self, task_id: str, init_id: int) -> None:
        """Put the world into the state that robosuite draws from the seed `init_id`.

        All samplers of robosuite share one generator, which is seeded here, so that a soft reset (2 ms) gives the same
        bytes as a new environment.

        Raises:
            NotFoundError: the task does not belong to this world.
            SimulationError: `init_id` is not in 0 to LAST_INIT_ID, or the task has no states outside the range.
        """
        if task_id not in self._task_ids:
            raise NotFoundError(
                f"task '{task_id}' is not of this scene, which has {', '.join(self._task_ids)}"
            )
        if not 0 <= init_id <= LAST_INIT_ID:
            raise SimulationError(f"init_id must be >= 0 and at most {LAST_INIT_ID}, not {init_id}")
        if task_id != self._task:
            self._build(task_id)
        self._env.rng.bit_generator.state = np.random.default_rng(init_id).bit_generator.state
        self._observation = self._env.reset()
        if self._outside:
            begin_outside(self._env, task_id, init_id)
        self.steps, self.reward = 0, 0.0

    def step(self, action: NDArray[Any]) -> None:
        """Advance by one control step of 50 ms.

        Args:
            action: for relative control (7,): displacement of the hand in units of 0.05 m and 0.5 rad (axis times
                angle) in the frame of the arm's base, whose axes are parallel to the world's. For joint control (8,):
                displacement of each joint in units of 0.05 rad. The last number is the gripper's, from -1 (open) to 1
                (closed). The units are robosuite's defaults.

        Raises:
            SimulationError: the simulation diverged.
        """
        self._observation, reward, _, _ = self._env.step(np.asarray(action, dtype=np.float64))
        self.reward = float(reward)
        if not np.isfinite(self.data.qpos).all():
            raise SimulationError(f"the simulation diverged at step {self.steps}; reset the scene")
        self.steps += 1

    def state(self) -> WorldState:
        """Return robosuite's own proprioception."""
        seen = self._observation
        return WorldState(
            joint_positions=np.concatenate([seen["robot0_joint_pos"], seen["robot0_gripper_qpos"]]),
            ee_position=np.array(seen["robot0_eef_pos"]),
            ee_quaternion=np.array(seen["robot0_eef_quat"]),
            hold_pose=np.zeros(6),
        )

    def judge(self) -> list[bool]:
        """Return for each task whether it is done: robosuite's own check of the present task, False for the others."""
        return [task == self._task and bool(self._env._check_success()) for task in self._task_ids]

    def advice(self) -> ExpertAction:
        """Return the action of the task's expert. Raises SimulationError if it has none, or if actions move joints."""
        if self.control.name != "relative":
            raise SimulationError("robosuite's experts move the hand; use delta_ee_6d_plus_gripper")
        if self._task not in EXPERTS:
            raise SimulationError(f"{self._task} has no scripted expert; {', '.join(EXPERTS)} have")
        state = look(self._env, self._task)
        return ExpertAction(EXPERTS[self._task](state), state.thing, state.goal)

    def object_positions(self) -> dict[str, NDArray[np.float64]]:
        """Return the position (3,) [m] of each object by name; see `things.positions`."""
        return positions(self._env, self._task)

    def move_object(self, name: str, by: NDArray[np.float64]) -> None:
        """Displace an object by (3,) [m]; see `things.move`."""
        move(self._env, self._task, name, by)

    def warm_up(self) -> None:
        """Take one step, since the first one on a machine compiles the controller, which takes half a minute."""
        self.reset(self._task, 0)
        self._env.step(np.append(np.zeros(self.control.dim - 1), OPEN))

    def _build(self, task_id: str) -> None:
        import robosuite

        if self._env is not None:
            self._env.close()
        self._env = robosuite.make(
            task_id,
            robots=self.arm.model,
            controller_configs=self._controllers(),
            has_renderer=False,
            has_offscreen_renderer=False,
            use_camera_obs=False,
            hard_reset=False,
            ignore_done=True,
            control_freq=CONTROL_HZ,
            seed=0,
        )
        self._task = task_id

    def _controllers(self) -> dict[str, Any] | None:
        """Return the configuration of robosuite's controllers; None: its default, OSC_POSE."""
        if self.control.name == "relative":
            return None
        from robosuite.controllers import load_composite_controller_config, load_part_controller_config

        whole: dict[str, Any] = load_composite_controller_config(robot=self.arm.model)
        part: dict[str, Any] = load_part_controller_config(default_controller="JOINT_POSITION")
        whole["body_parts"]["right"] = {**part, "gripper": whole["body_parts"]["right"]["gripper"]}
        return whole
