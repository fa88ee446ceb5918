"""The gripper's fingers, commanded by one number between open and closed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from openral_core.scene_parts import SceneAction
from openral_core.schema import Fault
from openral_sim_bridge.backends.mjcf.drives import find_drives
from openral_sim_bridge.backends.mjcf.name_lookup import Naming
from openral_sim_bridge.backends.mjcf.options import GripperOptions

OPEN, CLOSED = -1.0, 1.0
"""The gripper's element of an action for open and closed fingers; values between them interpolate."""


def gripper_number(action: SceneAction, number: float) -> float:
    """Return the command (OPEN to CLOSED) of the fingers for an action's last element; see `SceneAction.gripper`."""
    if action.gripper == "sign":
        return CLOSED if number > (OPEN + CLOSED) / 2.0 else OPEN
    return float(np.clip(number, OPEN, CLOSED))


@dataclass(frozen=True)
class Gripper:
    """F finger joints and the K actuators that move them."""

    qpos: NDArray[np.int64]
    """(F,) addresses of the joints in qpos."""
    closed: NDArray[np.float64]
    """(F,) [m or rad] positions of the closed fingers."""
    open: NDArray[np.float64]
    """(F,) [m or rad] positions of the open fingers."""
    actuators: NDArray[np.int64]
    """(K,) ids."""
    closed_control: NDArray[np.float64]
    """(K,) controls that close the fingers, in the actuators' own units."""
    open_control: NDArray[np.float64]
    """(K,) controls that open the fingers."""
    max_opening_m: float
    """[m] distance between the open fingers."""

    def command(self, data: Any, number: float) -> None:
        """Set the controls for a command of OPEN to CLOSED."""
        share = (float(np.clip(number, OPEN, CLOSED)) - OPEN) / (CLOSED - OPEN)
        data.ctrl[self.actuators] = (1.0 - share) * self.open_control + share * self.closed_control

    def opening(self, data: Any) -> float:
        """Return the distance between the fingers [m]: `max_opening_m` times the mean opened share of the joints."""
        shares = (data.qpos[self.qpos] - self.closed) / (self.open - self.closed)
        return self.max_opening_m * float(np.clip(shares.mean(), 0.0, None))

    def spread(self, data: Any) -> None:
        """Set the fingers to their open positions, and command them to stay open."""
        data.qpos[self.qpos] = self.open
        self.command(data, OPEN)


def find_gripper(model: Any, options: GripperOptions, naming: Naming, max_opening_m: float) -> Gripper | None:
    """Return the fingers and their actuators; or add faults to `naming.faults` and return None."""
    before = len(naming.faults)
    joints = np.array(
        [
            naming.find(mujoco.mjtObj.mjOBJ_JOINT, name, f"gripper.joints.{index}")
            for index, name in enumerate(options.joints)
        ]
    )
    if len(naming.faults) > before:
        return None
    closed, opened = _ends(model, joints, options, naming)
    if len(naming.faults) == before and (closed == opened).any():
        what = "open and closed are the same for a joint"
        naming.faults.append(
            Fault("gripper.joints", what, "give its joint a range, or write open and closed")
        )
    if options.actuators:
        ids = [
            naming.find(mujoco.mjtObj.mjOBJ_ACTUATOR, name, f"gripper.actuators.{name}")
            for name in options.actuators
        ]
        actuators, controls = np.array(ids), np.array(list(options.actuators.values()), dtype=np.float64)
    else:
        actuators, faults = find_drives(model, joints, "gripper.joints")
        if not faults and (model.actuator_biasprm[actuators, 1] >= 0).any():
            what = "an actuator of the fingers is a motor"
            faults = [Fault("gripper", what, "write actuators: {name: [control closed, control open]}")]
        naming.faults += faults
        controls = np.stack([closed, opened], axis=1)
    if len(naming.faults) > before:
        return None
    return Gripper(
        model.jnt_qposadr[joints], closed, opened, actuators, controls[:, 0], controls[:, 1], max_opening_m
    )


def _ends(
    model: Any, joints: NDArray[np.int64], options: GripperOptions, naming: Naming
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the closed and the open positions (F,) of the joints: the given ones, else the ends of their ranges."""
    ends = model.jnt_range[joints]
    closed, opened = (_given(options, name, naming) for name in ("closed", "open"))
    if closed is None:
        nearer = np.abs(ends - (0.0 if opened is None else opened[:, None])).argmin(axis=1)
        closed = ends[np.arange(len(ends)), nearer if opened is None else 1 - nearer]
    if opened is None:
        opened = ends[np.arange(len(ends)), np.abs(ends - closed[:, None]).argmax(axis=1)]
    return closed, opened


def _given(options: GripperOptions, name: str, naming: Naming) -> NDArray[np.float64] | None:
    values = getattr(options, name)
    if values is not None and len(values) != len(options.joints):
        what = f"has {len(values)} numbers for {len(options.joints)} joints"
        naming.faults.append(Fault(f"gripper.{name}", what, "write one for each joint"))
        return None
    return None if values is None else np.array(values, dtype=np.float64)
