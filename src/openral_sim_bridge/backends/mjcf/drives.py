"""Position control of joints by one actuator each, of position or of force.

The force of a MuJoCo actuator is gain * ctrl + b0 + b1 * length + b2 * velocity
(https://mujoco.readthedocs.io/en/stable/computation/index.html#actuation-model). With b1 < 0 it is a spring towards a
position. With b1 = b2 = 0 it is a pure force, and the position is controlled by computed torque.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from openral_core.schema import Fault

BANDWIDTH = 30.0
"""[rad/s] of the critically damped computed torque control, which follows a ramp with a delay of 2 / BANDWIDTH s."""


class Drives:
    """One actuator for each of n joints."""

    def __init__(self, model: Any, actuators: NDArray[np.int64], joints: NDArray[np.int64]) -> None:
        """Take the actuators that `find_drives` found for the joints."""
        self._model = model
        self._actuators = actuators
        self._qpos, self._dofs = model.jnt_qposadr[joints], model.jnt_dofadr[joints]
        self._gain = model.actuator_gainprm[actuators, 0]
        self._bias = model.actuator_biasprm[actuators, :2].copy()
        self._gear = model.actuator_gear[actuators, 0]
        self._springs = model.actuator_biasprm[actuators, 1] < 0
        self.needs_torque = not bool(self._springs.all())
        """Whether `push` must be called in each physics step."""
        self._acceleration, self._torque = np.zeros(model.nv), np.zeros(model.nv)

    def aim(self, data: Any, target: NDArray[np.float64]) -> None:
        """Set the controls of position actuators so that their equilibrium is `target` (n,) [rad or m]."""
        if not self._springs.any():
            return
        rest = -(self._bias[:, 0] + self._bias[:, 1] * self._gear * target) / self._gain
        data.ctrl[self._actuators[self._springs]] = rest[self._springs]

    def push(self, data: Any, target: NDArray[np.float64]) -> None:
        """Set the controls of force actuators for `target` (n,) [rad or m]; call it between mj_step1 and mj_step2.

        The computed torque is M (w^2 (target - q) - 2 w v) + bias, with w = BANDWIDTH.
        """
        error = target - data.qpos[self._qpos]
        self._acceleration[:] = 0.0
        self._acceleration[self._dofs] = BANDWIDTH**2 * error - 2.0 * BANDWIDTH * data.qvel[self._dofs]
        mujoco.mj_mulM(self._model, data, self._torque, self._acceleration)
        # Gravity compensation of bodies (gravcomp) is part of the passive forces.
        wanted = self._torque + data.qfrc_bias - data.qfrc_passive
        control = wanted[self._dofs] / (self._gear * self._gain)
        data.ctrl[self._actuators[~self._springs]] = control[~self._springs]


def find_drives(model: Any, joints: NDArray[np.int64], key: str) -> tuple[NDArray[np.int64], list[Fault]]:
    """Find the one actuator of each joint.

    Args:
        model: mujoco.MjModel.
        joints: (n,) ids of hinges or slides.
        key: of the option that the faults refer to.

    Returns:
        Ids (n,) of actuators, and a fault for each joint that has none, several, or an unusable one.
    """
    found, faults = [], []
    for joint in joints:
        name = model.joint(int(joint)).name
        mine = _actuators_of(model, int(joint))
        if len(mine) != 1:
            what = f"{len(mine) or 'no'} actuators move joint {name}"
            fix = f'give it one: <position joint="{name}" kp="…" kv="…"/>, or <motor joint="{name}"/>'
            faults.append(Fault(key, what, fix))
            found.append(0)
            continue
        wrong = _unusable(model, mine[0])
        if wrong:
            actuator = model.actuator(mine[0]).name or f"number {mine[0]}"
            fix = "make it a <position> or a <motor>"
            faults.append(Fault(key, f"actuator {actuator} of joint {name} is {wrong}", fix))
        found.append(mine[0])
    return np.array(found, dtype=np.int64), faults


def _actuators_of(model: Any, joint: int) -> list[int]:
    on_joints = (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)
    return [
        index
        for index in range(model.nu)
        if model.actuator_trntype[index] in on_joints and model.actuator_trnid[index, 0] == joint
    ]


def _unusable(model: Any, actuator: int) -> str:
    """Return why an actuator cannot be used; empty: it can."""
    if model.actuator_gaintype[actuator] != mujoco.mjtGain.mjGAIN_FIXED:
        return "not linear (a muscle or with affine gain)"
    if model.actuator_dyntype[actuator] == mujoco.mjtDyn.mjDYN_INTEGRATOR:
        return "an integrator"
    if model.actuator_gainprm[actuator, 0] == 0 or model.actuator_gear[actuator, 0] == 0:
        return "without gain"
    spring, damper = model.actuator_biasprm[actuator, 1:3]
    if spring > 0 or (spring == 0 and damper != 0):
        return "a velocity actuator"
    return ""
