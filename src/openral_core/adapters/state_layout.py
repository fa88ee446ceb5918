"""Proprioception vectors of checkpoints, computed from a robot's state."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import ContractError
from openral_core.manifest import RSkillManifest
from openral_core.types import RobotState, rotation_matrix

GRIPPER_SPAN_M = 0.1
"""[m] finger distance of a fully open gripper in MetaWorld (`SawyerXYZEnv._get_curr_obs_combined_no_goal`)."""

StateFunction = Callable[[RobotState], NDArray[np.float32]]


def ee_pos3_gripper1(state: RobotState) -> NDArray[np.float32]:
    """Return (4,): end effector x, y, z [m, world frame], finger distance / 0.1 m clipped to 0..1."""
    gripper = np.clip(state.gripper_opening / GRIPPER_SPAN_M, 0.0, 1.0)
    return np.append(state.ee_position, gripper).astype(np.float32)


def ee_pos3_rot6_gripper1(state: RobotState) -> NDArray[np.float32]:
    """Return (10,): end effector x, y, z [m, world frame], two columns of its rotation, finger distance [m].

    Two columns represent a rotation without discontinuities (Zhou et al. 2019, arXiv 1812.07035); axis times angle is
    discontinuous where a hand points straight down.
    """
    turned = rotation_matrix(state.ee_quaternion)
    return np.array(
        [*state.ee_position, *turned[:, 0], *turned[:, 1], state.gripper_opening], dtype=np.float32
    )


def libero_eef8d(state: RobotState, finger_joints: Sequence[str]) -> NDArray[np.float32]:
    """Return LIBERO's (8,): end effector x, y, z [m, world frame], axis times angle [rad], two finger joints [m].

    The angle is 2 acos(w) in 0..2 pi, as in robosuite's `quat2axisangle`, so that q and -q, the same rotation, have
    different values. LIBERO's hand points down, where w is near 0 with either sign; so the sign of the quaternion must
    be that of the simulator.
    """
    x, y, z, w = state.ee_quaternion
    length = np.sqrt(max(1.0 - w * w, 0.0))
    turn = np.array([x, y, z]) * (2.0 * np.arccos(np.clip(w, -1.0, 1.0)) / length if length > 0 else 0.0)
    fingers = [state.joint_positions[state.joint_names.index(name)] for name in finger_joints]
    return np.concatenate([state.ee_position, turn, fingers]).astype(np.float32)


HAND_LAYOUTS = ("ee_pos3_gripper1", "ee_pos3_rot6_gripper1", "libero_eef8d")
"""Layouts with the pose of the hand, whose length is the same for all robots."""
LAYOUTS = (*HAND_LAYOUTS, "joint_positions")
"""All implemented layouts."""
_USUAL = {("sawyer", 4): "ee_pos3_gripper1", ("franka_panda", 8): "libero_eef8d"}
"""(embodiment, dim) -> layout, for manifests that state the length only. The data sets of MetaWorld
(lerobot/metaworld_mt50) hold the first four numbers of its observation, those of LIBERO these eight."""
_FINGERS = ("panda_finger_joint1", "panda_finger_joint2")
"""Of the robot franka_panda, for manifests that bind no joints."""


def joint_positions(state: RobotState, dim: int) -> NDArray[np.float32]:
    """Return (dim,): every joint of robot.yaml in its order [rad] or [m]; a joint of role gripper is the opening [m].

    Raises:
        ContractError: the robot has another number of joints.
    """
    if len(state.joint_positions) != dim:
        raise ContractError(
            f"state_contract.dim: {dim} joint positions, and the robot sends {len(state.joint_positions)} "
            f"({', '.join(state.joint_names)}); write {len(state.joint_positions)}"
        )
    return state.joint_positions.astype(np.float32)


def state_vector(
    layout: str, state: RobotState, finger_joints: Sequence[str] = _FINGERS
) -> NDArray[np.float32]:
    """Return the vector (D,) of one of HAND_LAYOUTS.

    Args:
        layout: the name.
        state: of the robot.
        finger_joints: both fingers' joints, for layouts that hold them.
    """
    if layout == "libero_eef8d":
        return libero_eef8d(state, finger_joints)
    return ee_pos3_gripper1(state) if layout == "ee_pos3_gripper1" else ee_pos3_rot6_gripper1(state)


def layout_of(manifest: RSkillManifest) -> str:
    """Return the name of the skill's state layout.

    Raises:
        ContractError: it names none, or one that cannot be built here.
    """
    contract = manifest.state_contract
    layout: str | None = contract.layout if contract else None
    if contract and layout is None and contract.dim is not None:
        usual = (_USUAL.get((tag, contract.dim)) for tag in manifest.embodiment_tags)
        layout = next((name for name in usual if name), None)
    if layout not in LAYOUTS:
        what = "is missing" if layout is None else f"'{layout}' cannot be built here"
        raise ContractError(f"{manifest.name}: state_contract.layout {what}; use one of {', '.join(LAYOUTS)}")
    return layout


def finger_joints(manifest: RSkillManifest) -> tuple[str, ...]:
    """Return the joints of fingers whose positions the skill's vector holds; none where its layout cannot be built."""
    bindings = manifest.state_contract.bindings if manifest.state_contract else None
    if bindings is not None:
        return bindings.gripper_qpos_joints
    try:
        return _FINGERS if layout_of(manifest) == "libero_eef8d" else ()
    except ContractError:
        return ()  # a gate of its own says so


def state_function(manifest: RSkillManifest) -> StateFunction:
    """Return what makes the skill's vector (D,) float32 of a robot's state. Raises ContractError as `layout_of`."""
    layout = layout_of(manifest)
    if layout == "joint_positions":
        dim = (manifest.state_contract and manifest.state_contract.dim) or 0
        return lambda state: joint_positions(state, dim)
    fingers = finger_joints(manifest)
    if layout == "libero_eef8d" and len(fingers) != 2:
        raise ContractError(
            f"{manifest.name}: state_contract.bindings.gripper_qpos_joints: {len(fingers)} joints; "
            "libero_eef8d takes two, name both fingers"
        )
    return lambda state: state_vector(layout, state, fingers)
