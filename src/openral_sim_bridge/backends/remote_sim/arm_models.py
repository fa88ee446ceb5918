"""robosuite's arms, with the names of their ROS descriptions.

Bodies and joints are robosuite's, so the frames are those of the simulation. Its Panda is 0.5 mm shorter at the flange
than in Franka's own description, and the second finger of either arm moves in the opposite direction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from openral_core.errors import NotFoundError
from openral_sim_bridge.backend import Frame

ROOT_BODY = "robot0_base"
"""robosuite's name of the root body of an arm and its mount."""
UPRIGHT = np.array([0.0, 0.0, 0.0, 1.0])
"""(4,) x, y, z, w: no rotation."""


@dataclass(frozen=True)
class ArmModel:
    """An arm with its gripper."""

    robot: str
    """Name of its description, `robots/<robot>/robot.yaml`."""
    model: str
    """robosuite's name of the arm."""
    joints: tuple[str, ...]
    """Joints of the arm from the base to the hand."""
    fingers: tuple[str, str]
    """Joints of the fingers; the first opens with increasing, the second with decreasing positions."""
    gripper: str
    """Name of the reported joint whose position is the distance between the fingers [m]; it is not in the model."""
    gap_m: float
    """[m] distance between the fingers when both finger joints are at zero."""
    tool: Frame
    """Frame of the end effector of robosuite's observations, in the hand: `robot0_eef_pos` is a site between the
    fingertips, while `robot0_eef_quat` is the hand's orientation."""
    names: Mapping[str, str]
    """robosuite's name of a body or joint -> its name in the description."""


_MOUNT = {
    f"{prefix}mount0_{part}": f"mount_{part}"
    for prefix in ("", "fixed_")
    for part in ("base", "controller_box", "pedestal_feet", "torso", "pedestal")
}
"""robosuite's names of the mount's bodies -> names in the description."""


def _names(base: str, arm: Mapping[str, str], gripper: Mapping[str, str]) -> dict[str, str]:
    """Return `ArmModel.names` from names without robosuite's prefixes.

    The prefix of a gripper's names differs between robosuite 1.4 (LIBERO) and 1.5; both are included.
    """
    return {
        ROOT_BODY: base,
        **{f"robot0_{theirs}": ours for theirs, ours in arm.items()},
        **{f"gripper0_{theirs}": ours for theirs, ours in gripper.items()},
        **{f"gripper0_right_{theirs}": ours for theirs, ours in gripper.items()},
        **_MOUNT,
    }


_PANDA_LINKS = tuple(f"link{i}" for i in range(8))
_PANDA_JOINTS = tuple(f"joint{i}" for i in range(1, 8))
_PANDA_FINGERS = ("leftfinger", "rightfinger", "finger_joint1", "finger_joint2")
PANDA = ArmModel(
    robot="franka_panda",
    model="Panda",
    joints=tuple(f"panda_{joint}" for joint in _PANDA_JOINTS),
    fingers=("panda_finger_joint1", "panda_finger_joint2"),
    gripper="panda_gripper",
    gap_m=0.0,
    tool=Frame("panda_hand", "panda_hand_tcp", np.array([0.0, 0.0, 0.097]), UPRIGHT),
    names=_names(
        "panda_base",
        {
            **{name: f"panda_{name}" for name in (*_PANDA_LINKS, *_PANDA_JOINTS)},
            "right_hand": "panda_hand",
        },
        {
            **{name: f"panda_{name}" for name in _PANDA_FINGERS},
            "right_gripper": "panda_gripper_body",
            "eef": "panda_grip_site",
            "finger_joint1_tip": "panda_leftfinger_tip",
            "finger_joint2_tip": "panda_rightfinger_tip",
        },
    ),
)

_SAWYER_LINKS = (
    "right_arm_base_link",
    *(f"right_l{i}" for i in range(7)),
    "right_l1_2",
    "right_l2_2",
    "right_l4_2",
    "head",
    "screen",
    "head_camera",
    "right_torso_itb",
    "right_arm_itb",
    "right_hand_camera",
    "right_wrist",
    "right_hand",
)
_SAWYER_JOINTS = tuple(f"right_j{i}" for i in range(7))
_SAWYER_FINGERS = tuple(f"{side}_finger{part}" for side in "lr" for part in ("", "_tip", "_joint"))
SAWYER = ArmModel(
    robot="sawyer_rethink",
    model="Sawyer",
    joints=_SAWYER_JOINTS,
    fingers=("right_gripper_l_finger_joint", "right_gripper_r_finger_joint"),
    gripper="right_gripper",
    gap_m=0.0371,
    tool=Frame("right_hand", "right_gripper_tip", np.array([0.0, 0.0, 0.109]), UPRIGHT),
    names=_names(
        "base",
        {name: name for name in (*_SAWYER_LINKS, *_SAWYER_JOINTS)},
        {
            **{name: f"right_gripper_{name}" for name in _SAWYER_FINGERS},
            "gripper_base": "right_gripper_base",
            "eef": "right_gripper_grip_site",
        },
    ),
)
"""A Sawyer with Rethink's electric parallel gripper, whose fingertip pads close to a distance of 13 mm."""

ARMS = {arm.robot: arm for arm in (PANDA, SAWYER)}
"""Arm by the name of its description."""


def arm_of(robot: str) -> ArmModel:
    """Return the arm of a description. Raises NotFoundError, which lists the existing ones."""
    if robot not in ARMS:
        raise NotFoundError(f"robot_id: robosuite has no arm '{robot}' here; it has {', '.join(ARMS)}")
    return ARMS[robot]
