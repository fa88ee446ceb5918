"""The compiled scene and its worlds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from openral_core.errors import SimulationError
from openral_core.robot import RobotDescription
from openral_core.scene import DeployScene
from openral_core.types import RobotState
from openral_sim_bridge.backends.mjcf.conditions import Conditions
from openral_sim_bridge.backends.mjcf.control import ArmControl, arm_numbers, make_control
from openral_sim_bridge.backends.mjcf.gripper import gripper_number
from openral_sim_bridge.backends.mjcf.initial import InitialStates
from openral_sim_bridge.backends.mjcf.model import load_model, substeps
from openral_sim_bridge.backends.mjcf.name_lookup import Naming
from openral_sim_bridge.backends.mjcf.options import read_options
from openral_sim_bridge.backends.mjcf.robot import find_robot, other_robot, raise_all
from openral_sim_bridge.backends.mjcf.start_pose_check import start_faults
from openral_sim_bridge.backends.mujoco_articulation import Articulation

_DIVERGED = (
    mujoco.mjtWarning.mjWARN_BADQPOS,
    mujoco.mjtWarning.mjWARN_BADQVEL,
    mujoco.mjtWarning.mjWARN_BADQACC,
)


class CompiledScene:
    """The part that all worlds of a scene share: model, robot, initial states and success conditions."""

    def __init__(self, scene: DeployScene, robot: RobotDescription) -> None:
        """Compile the model, and find in it everything that the scene and robot.yaml name.

        Raises:
            ManifestError: something is missing or wrong; the text has one line with its fix for each fault.
        """
        self.options, document = read_options(scene)
        self.action = scene.action
        self.dt = scene.dt
        self.model = load_model(self.options, document)
        self.substeps = substeps(self.model, scene.control_hz, document)
        self.naming = Naming(self.model, self.options.names)
        if faults := other_robot(robot, self.naming):
            raise_all(document, faults)
        found = find_robot(self.model, robot, self.options, self.naming)
        conditions = Conditions(self.model, self.naming)
        self.judges = {
            task: conditions.judge(condition, f"success.{task}")
            for task, condition in self.options.success.items()
        }
        gripper = found.gripper if found is not None else None
        self.states = InitialStates(self.model, self.options, gripper, self.naming)
        if found is not None and not self.naming.faults:
            margin_rad = scene.arm.safety.position_margin_rad if scene.arm is not None else 0.0
            self.naming.faults += start_faults(robot, self.options, self.states, self.naming, margin_rad)
        if found is None or self.naming.faults:
            raise_all(document, self.naming.faults)
        self.robot = found
        self.arm_numbers = arm_numbers(scene.action, found)

    def articulation(self, robot: RobotDescription) -> Articulation:
        """Return the robot in the model, with the names of its robot.yaml."""
        names = {theirs: ours for ours, theirs in self.options.names.items()}
        hand = robot.end_effectors[0].frame
        is_site = self.naming.body_or_site(hand, "model")[0] == mujoco.mjtObj.mjOBJ_SITE
        return Articulation(
            self.model,
            self.naming.in_model(self.options.robot_root or robot.base_frame),
            hidden_groups=self.options.hidden_groups,
            is_root=self.options.robot_root is not None,
            names=names,
            sites=[self.naming.in_model(hand)] if is_site else [],
        )


class MjcfWorld:
    """One simulated world with its robot."""

    def __init__(self, scene: CompiledScene) -> None:
        self._scene = scene
        self.model: Any = scene.model
        """mujoco.MjModel, the same for all worlds."""
        self.data: Any = mujoco.MjData(scene.model)
        """mujoco.MjData"""
        self.control: ArmControl = make_control(scene.action, scene.robot, scene.dt)
        self.steps = 0
        self._task = scene.options.tasks[0]

    def reset(self, task: str, init_id: int) -> None:
        """Put the world into an initial state (see `InitialStates.put`), and simulate `settle_s` with the arm held."""
        scene, data = self._scene, self.data
        scene.states.put(data, task, init_id)
        self.steps, self._task = 0, task
        self.control.restart(data)
        for _ in range(round(scene.options.settle_s / scene.dt)):
            self._advance()
        mujoco.mj_forward(scene.model, data)
        self.control.restart(data)

    def step(self, action: NDArray[Any]) -> None:
        """Advance by one control step.

        Raises:
            SimulationError: the simulation diverged.
        """
        scene, data = self._scene, self.data
        numbers = np.asarray(action, dtype=np.float64)
        self.control.aim(data, numbers[: scene.arm_numbers])
        if scene.robot.gripper is not None and len(numbers) > scene.arm_numbers:
            scene.robot.gripper.command(data, gripper_number(scene.action, float(numbers[-1])))
        self._advance()
        self.steps += 1
        mujoco.mj_forward(scene.model, data)

    def judge(self, task: str) -> bool:
        """Return whether a task is done in the present state."""
        return self._scene.judges[task](self.data)

    def robot_state(self) -> RobotState:
        """Return the robot's state; its stamp counts from the reset."""
        state, target = self._scene.robot.state(self.data, self.steps * self._scene.dt), self.control.hand
        return replace(state, ee_target=None if target is None else target.copy())

    def _aim(self, data: Any) -> None:
        if self._scene.robot.drives is not None:
            self._scene.robot.drives.aim(data, self.control.joints)

    def _advance(self) -> None:
        """Simulate one control step with the control's joint targets. Raises SimulationError if it diverges."""
        scene, data, drives = self._scene, self.data, self._scene.robot.drives
        self._aim(data)
        if drives is not None and drives.needs_torque:
            for _ in range(scene.substeps):
                mujoco.mj_step1(scene.model, data)
                drives.push(data, self.control.joints)
                mujoco.mj_step2(scene.model, data)
        else:
            mujoco.mj_step(scene.model, data, nstep=scene.substeps)
        # MuJoCo resets a world that has diverged and continues; here that is an error.
        for warning in _DIVERGED:
            if data.warning[warning].number:
                at = int(data.warning[warning].lastinfo)
                joint = scene.model.jnt(int(scene.model.dof_jntid[min(at, scene.model.nv - 1)])).name
                raise SimulationError(
                    f"{self._task}: the simulation diverged at step {self.steps} (near joint '{joint or at}'); "
                    f"halve the model's timestep of {scene.model.opt.timestep:g} s, or soften actuators and contacts"
                )
