"""Finds the parts of the robot in the model: the joints of arm and fingers, the hand, and their actuators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import mujoco
import numpy as np
from numpy.typing import NDArray

from openral_core.errors import ManifestError
from openral_core.files.yaml_document import Document
from openral_core.robot import RobotDescription
from openral_core.schema import Fault
from openral_core.types import RobotState
from openral_sim_bridge.backends.mjcf.drives import Drives, find_drives
from openral_sim_bridge.backends.mjcf.gripper import Gripper, find_gripper
from openral_sim_bridge.backends.mjcf.kinematics import Chain
from openral_sim_bridge.backends.mjcf.name_lookup import SHOWN, Naming
from openral_sim_bridge.backends.mjcf.options import MjcfOptions

_MOVING = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)


@dataclass(frozen=True)
class Weld:
    """A mocap body that drags the hand."""

    mocap: int
    """Index among the mocap bodies."""
    hand: int
    """Id of the body that is welded to it."""
    position: NDArray[np.float64]
    """(3,) [m] of `hand` in the mocap body's frame while the weld is at rest."""
    quaternion: NDArray[np.float64]
    """(4,) w, x, y, z"""


@dataclass(frozen=True)
class Robot:
    """The parts of the robot in the model."""

    chain: Chain
    drives: Drives | None
    """None: `weld` moves the arm."""
    weld: Weld | None
    gripper: Gripper | None
    speed: NDArray[np.float64]
    """(n,) [rad/s or m/s] velocity limit of each joint of the arm; inf where robot.yaml has none."""
    reported: tuple[tuple[str, int], ...]
    """Movable joints of robot.yaml in its order, with their addresses in qpos; -1: the gripper's opening."""

    def state(self, data: Any, stamp_s: float) -> RobotState:
        """Return the robot's state, with the given stamp."""
        position, (w, x, y, z) = self.chain.hand(data)
        opening = self.gripper.opening(data) if self.gripper is not None else 0.0
        joints = [opening if address < 0 else data.qpos[address] for _, address in self.reported]
        return RobotState(
            stamp_s=stamp_s,
            joint_names=tuple(name for name, _ in self.reported),
            joint_positions=np.array(joints, dtype=np.float64),
            ee_position=position,
            ee_quaternion=np.array([x, y, z, w]),
            gripper_opening=opening,
        )


def other_robot(robot: RobotDescription, naming: Naming) -> list[Fault]:
    """Return one fault if the model has none of the arm's joints, in place of a fault for each of its parts."""
    arm = [joint.name for joint in robot.joints if joint.role == "arm"]
    if len(arm) < 2 or any(naming.has(mujoco.mjtObj.mjOBJ_JOINT, name) for name in arm):
        return []
    known = naming.known(mujoco.mjtObj.mjOBJ_JOINT)
    what = (
        f"has none of the joints of {robot.name} ({arm[0]} to {arm[-1]}); it has {', '.join(known[:SHOWN])}"
    )
    return [
        Fault("model", what, "write the robot_id of its arm, or what they are called in it under `names`")
    ]


def find_robot(model: Any, robot: RobotDescription, options: MjcfOptions, naming: Naming) -> Robot | None:
    """Return the parts of the robot in the model; or add faults to `naming.faults` and return None."""
    arm = [joint for joint in robot.joints if joint.role == "arm"]
    if not arm:
        naming.faults.append(Fault("model", f"{robot.name} has no joint of role arm", "fix robot.yaml"))
    ids = [naming.find(mujoco.mjtObj.mjOBJ_JOINT, joint.name, "model") for joint in arm]
    hand = naming.body_or_site(robot.end_effectors[0].frame, "model")
    joints = np.array(ids, dtype=np.int64)
    is_whole = not naming.faults
    naming.faults += [
        Fault("model", f"joint {joint.name} is neither a hinge nor a slide", "give the arm such joints")
        for joint, index in zip(arm, ids, strict=True)
        if is_whole and model.jnt_type[index] not in _MOVING
    ]
    if is_whole:
        naming.faults += _order_faults(model, [joint.name for joint in arm], ids, robot.name)
    gripper = _find_fingers(model, robot, options, naming)
    reported = tuple(_reported(robot, naming, options.gripper is not None))
    weld = _find_weld(model, options, naming) if options.mocap is not None else None
    actuators = None
    if options.mocap is None and is_whole:
        actuators, faults = find_drives(model, joints, "model")
        if model.nmocap and any(fault.what.startswith("no actuators") for fault in faults):
            faults.append(Fault("mocap", "is absent", "if a mocap body drags the hand, name it here"))
        naming.faults += faults
    if naming.faults:
        return None
    return Robot(
        chain=Chain(model, joints, hand),
        drives=Drives(model, actuators, joints) if actuators is not None else None,
        weld=weld,
        gripper=gripper,
        speed=np.array([joint.velocity_limit or np.inf for joint in arm]),
        reported=reported,
    )


def _order_faults(model: Any, names: list[str], ids: list[int], robot: str) -> list[Fault]:
    """Return a fault for each joint that is listed before one of its ancestors; arms list joints from base to hand."""
    return [
        Fault(
            "model",
            f"{robot}'s robot.yaml has {name} before {later}, from which it hangs",
            "list the arm's joints from the base to the hand",
        )
        for at, (name, index) in enumerate(zip(names, ids, strict=True))
        for later, other in zip(names[at + 1 :], ids[at + 1 :], strict=True)
        if _hangs_from(model, index, other)
    ]


def _hangs_from(model: Any, joint: int, other: int) -> bool:
    """Return whether `other` is an ancestor of `joint`; of two joints of one body, the earlier is the ancestor."""
    body, above = int(model.jnt_bodyid[joint]), int(model.jnt_bodyid[other])
    if body == above:
        return other < joint
    while body > above:
        body = int(model.body_parentid[body])
    return body == above


def _find_fingers(
    model: Any, robot: RobotDescription, options: MjcfOptions, naming: Naming
) -> Gripper | None:
    if options.gripper is None:
        return None
    width = robot.end_effectors[0].max_opening_m
    if width is None:
        what = f"the first end effector of {robot.name} has no max_opening_m"
        naming.faults.append(Fault("gripper", what, "add it to robot.yaml, in metres"))
    return find_gripper(model, options.gripper, naming, width or 0.0)


def _reported(robot: RobotDescription, naming: Naming, has_gripper: bool) -> list[tuple[str, int]]:
    """Return `Robot.reported`; a joint of role gripper that the model lacks reports the gripper's opening."""
    found = []
    for joint in robot.joints:
        if joint.role == "gripper" and not naming.has(mujoco.mjtObj.mjOBJ_JOINT, joint.name):
            if not has_gripper:
                naming.faults.append(
                    Fault("gripper", "is absent", f"say which joints are the fingers of {robot.name}")
                )
            found.append((joint.name, -1))
        elif joint.joint_type != "fixed":
            found.append((joint.name, naming.address(joint.name)))
    return found


def _find_weld(model: Any, options: MjcfOptions, naming: Naming) -> Weld | None:
    body = naming.find(mujoco.mjtObj.mjOBJ_BODY, str(options.mocap), "mocap")
    if int(model.body_mocapid[body]) < 0:
        naming.faults.append(Fault("mocap", f"body {options.mocap} is no mocap body", 'give it mocap="true"'))
        return None
    for index in range(model.neq):
        pair = [int(model.eq_obj1id[index]), int(model.eq_obj2id[index])]
        is_weld = model.eq_type[index] == mujoco.mjtEq.mjEQ_WELD
        if is_weld and pair[0] == body:
            pose = model.eq_data[index, 3:10]
            return Weld(int(model.body_mocapid[body]), pair[1], pose[:3].copy(), pose[3:].copy())
        if is_weld and pair[1] == body:
            what = f"the weld names {options.mocap} second"
            naming.faults.append(Fault("mocap", what, f'write <weld body1="{options.mocap}" body2="…"/>'))
            return None
    fix = f'add <equality><weld body1="{options.mocap}" body2="…"/></equality>'
    naming.faults.append(Fault("mocap", f"nothing is welded to {options.mocap}", fix))
    return None


def raise_all(document: Document, faults: list[Fault]) -> NoReturn:
    """Raise a ManifestError with one line for each distinct fault."""
    lines = dict.fromkeys(
        document.fault(
            tuple(int(part) if part.isdigit() else part for part in fault.key.split(".")),
            fault.what,
            fault.fix,
        )
        for fault in faults
    )
    raise ManifestError("\n".join(lines))
