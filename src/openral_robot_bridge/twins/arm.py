"""The arm and the world of a scene in MuJoCo, driven as by an arm's own controller: by torques, or by positions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from openral_core.errors import SimulationError
from openral_core.robot import RobotDescription
from openral_core.scene import DeployScene
from openral_sim_bridge.backends.mjcf.gripper import CLOSED, OPEN, Gripper
from openral_sim_bridge.backends.mjcf.world import CompiledScene

Vector = NDArray[np.float64]
_ARM_GROUP = 1
"""Group of the arm's actuators, which are disabled while torques drive the arm."""


class TwinArm:
    """The world of a scene of family mjcf, whose timestep is the cycle of the arm's controller."""

    def __init__(self, scene: DeployScene, robot: RobotDescription, cycle_s: float) -> None:
        """Compile the scene, and set its initial state.

        Raises:
            ManifestError: the scene or its model is invalid.
            SimulationError: the arm has no position actuators or no gripper, or the timestep is not `cycle_s` [s].
        """
        compiled = CompiledScene(scene, robot)
        self._model, self._robot = compiled.model, compiled.robot
        if abs(self._model.opt.timestep - cycle_s) > 1e-9:
            raise SimulationError(
                f"{compiled.options.model}: timestep {self._model.opt.timestep:g} s; a twin needs {cycle_s:g} s"
            )
        drives, gripper = self._robot.drives, self._robot.gripper
        if drives is None or drives.needs_torque or gripper is None:
            raise SimulationError(f"{compiled.options.model}: a twin needs position actuators and a gripper")
        self._drives, self._gripper = drives, gripper
        self._dofs, self._qpos = self._robot.chain.dofs, self._robot.chain.qpos
        self._data: Any = mujoco.MjData(self._model)
        self._lag = np.zeros(len(self._dofs))
        for actuator in range(self._model.nu):
            dof = int(self._model.jnt_dofadr[self._model.actuator_trnid[actuator, 0]])
            if dof in set(self._dofs.tolist()):
                self._model.actuator_group[actuator] = _ARM_GROUP
                _, stiffness, damping = self._model.actuator_biasprm[actuator, :3]
                self._lag[self._dofs == dof] = damping / stiffness
        self._states, self._task = compiled.states, compiled.options.tasks[0]
        self._judge = compiled.judges[self._task]
        self._judged_cycles = round(scene.dt / cycle_s)
        self._finger_speed = 0.1
        self._cycle_s = cycle_s
        self._see: Callable[[Vector], None] | None = None
        self.reset(compiled.options.init_id)

    def reset(self, init_id: int) -> None:
        """Set arm and objects to an initial state of the scene, at rest.

        Raises:
            SimulationError: there is no such state.
        """
        self._states.put(self._data, self._task, init_id)
        self._width = self._led = self.width
        self.done_s: float | None = None
        """[s] of the twin's time from the reset until the scene's first task was done; None: it was not.

        It is judged once per control step, as in simulators."""
        self._cycles = 0
        self.hold(self.positions)

    @property
    def positions(self) -> Vector:
        """(n,) [rad] measured positions of the joints."""
        return np.array(self._data.qpos[self._qpos])

    @property
    def velocities(self) -> Vector:
        """(n,) [rad/s]"""
        return np.array(self._data.qvel[self._dofs])

    @property
    def accelerations(self) -> Vector:
        """(n,) [rad/s²] of the last cycle."""
        return np.array(self._data.qacc[self._dofs])

    @property
    def external_torques(self) -> Vector:
        """(n,) [Nm] constraint torques of the joints, by contacts and range limits."""
        return np.array(self._data.qfrc_constraint[self._dofs])

    @property
    def carried(self) -> Vector:
        """(n,) [Nm] bias torques of the joints: gravity, Coriolis and centrifugal."""
        return np.array(self._data.qfrc_bias[self._dofs])

    @property
    def world(self) -> Vector:
        """(nq,) qpos of the whole model, as a view that later cycles change."""
        seen: Vector = self._data.qpos
        return seen

    @property
    def hand(self) -> tuple[Vector, Vector]:
        """Position (3,) [m] and quaternion (4,) (w, x, y, z) of the hand in the world frame."""
        return self._robot.chain.hand(self._data)

    @property
    def gripper(self) -> Gripper:
        """The fingers."""
        return self._gripper

    @property
    def width(self) -> float:
        """[m] between the fingers."""
        return self._gripper.opening(self._data)

    def hold(self, positions: Vector, velocities: Vector | None = None) -> None:
        """Set the target of the arm's own position controller to (n,) [rad].

        With velocities (n,) [rad/s], it damps only the velocity error, and so tracks without lag.
        """
        self._model.opt.disableactuator &= ~(1 << _ARM_GROUP)
        self._data.qfrc_applied[self._dofs] = 0.0
        ahead = positions if velocities is None else positions + self._lag * velocities
        self._drives.aim(self._data, ahead)

    def push(self, torques: Vector) -> None:
        """Drive the joints by torques (n,) [Nm]; gravity is compensated in addition, as on the real arm."""
        self._model.opt.disableactuator |= 1 << _ARM_GROUP
        self._data.qfrc_applied[self._dofs] = torques

    def move_fingers(self, width: float, speed: float, force: float) -> None:
        """Move the fingers to a width [m] at a speed [m/s], with a largest force [N] between them."""
        self._width = float(np.clip(width, 0.0, self._gripper.max_opening_m))
        self._finger_speed = max(speed, 1e-3)
        share = force / 2.0
        self._model.actuator_forcerange[self._gripper.actuators] = (-share, share)
        self._led = self.width

    def advance(self) -> None:
        """Simulate one cycle."""
        step = self._finger_speed * self._cycle_s
        self._led += float(np.clip(self._width - self._led, -step, step))
        share = self._led / self._gripper.max_opening_m
        self._gripper.command(self._data, CLOSED + (OPEN - CLOSED) * share)
        mujoco.mj_step(self._model, self._data)
        self._cycles += 1
        if self.done_s is None and self._cycles % self._judged_cycles == 0 and self._judge(self._data):
            self.done_s = float(self._data.time)
        if self._see is not None:
            self._see(self._data.qpos)

    def show(self, see: Callable[[Vector], None]) -> None:
        """Call `see` with the model's qpos after each cycle from now on."""
        self._see = see
