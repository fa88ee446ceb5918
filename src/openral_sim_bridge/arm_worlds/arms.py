"""robosuite's arms, under the names that their ROS descriptions have.

The bodies and joints are robosuite's, so the frames are where the simulation has them. Its Panda is 0.5 mm short of
Franka's own description at the flange; the second finger of either arm moves the other way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from openral_core.errors import NotFoundError
from openral_sim_bridge.backend import Frame

ROOT_BODY = "robot0_base"
"""robosuite's name of the body that an arm and its mount hang from."""
UPRIGHT = np.array([0.0, 0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Arm:
    """An arm with its gripper."""

    robot: str
    """Name of its description, `robots/<robot>/robot.yaml`."""
    model: str
    """robosuite's name of it."""
    joints: tuple[str, ...]
    """Of the arm, from the base on."""
    fingers: tuple[str, str]
    """Joints of the fingers; the first opens at growing, the second at falling positions."""
    gripper: str
    """Not a joint of the model: the distance between the fingers [m]."""
    gap_m: float
    """[m] that distance while both finger joints are at zero."""
    tool: Frame
    """The end effector of robosuite's observations in the hand: `robot0_eef_pos` is a site between the fingertips,
    while `robot0_eef_quat` is the hand's orientation."""
    names: Mapping[str, str]
    """robosuite's names of bodies and joints -> ours."""


def _gripper(names: Mapping[str, str]) -> dict[str, str]:
    """Under the prefixes of robosuite 1.4 (LIBERO), and those of 1.5."""
    return {
        f"{prefix}{name}": ours for prefix in ("gripper0_", "gripper0_right_") for name, ours in names.items()
    }


_MOUNT = {
    f"{prefix}mount0_{part}": f"mount_{part}"
    for prefix in ("", "fixed_")
    for part in ("base", "controller_box", "pedestal_feet", "torso", "pedestal")
}

PANDA = Arm(
    robot="franka_panda",
    model="Panda",
    joints=tuple(f"panda_joint{i}" for i in range(1, 8)),
    fingers=("panda_finger_joint1", "panda_finger_joint2"),
    gripper="panda_gripper",
    gap_m=0.0,
    tool=Frame("panda_hand", "panda_hand_tcp", np.array([0.0, 0.0, 0.097]), UPRIGHT),
    names={
        ROOT_BODY: "panda_base",
        **{f"robot0_link{i}": f"panda_link{i}" for i in range(8)},
        **{f"robot0_joint{i}": f"panda_joint{i}" for i in range(1, 8)},
        "robot0_right_hand": "panda_hand",
        **_gripper(
            {
                "right_gripper": "panda_gripper_body",
                "eef": "panda_grip_site",
                "leftfinger": "panda_leftfinger",
                "rightfinger": "panda_rightfinger",
                "finger_joint1_tip": "panda_leftfinger_tip",
                "finger_joint2_tip": "panda_rightfinger_tip",
                "finger_joint1": "panda_finger_joint1",
                "finger_joint2": "panda_finger_joint2",
            }
        ),
        **_MOUNT,
    },
)

_SAWYER_LINKS = (
    "right_arm_base_link", *(f"right_l{i}" for i in range(7)), "right_l1_2", "right_l2_2", "right_l4_2",
    "head", "screen", "head_camera", "right_torso_itb", "right_arm_itb", "right_hand_camera", "right_wrist",
    "right_hand",
)  # fmt: skip
SAWYER = Arm(
    robot="sawyer_rethink",
    model="Sawyer",
    joints=tuple(f"right_j{i}" for i in range(7)),
    fingers=("right_gripper_l_finger_joint", "right_gripper_r_finger_joint"),
    gripper="right_gripper",
    gap_m=0.0371,
    tool=Frame("right_hand", "right_gripper_tip", np.array([0.0, 0.0, 0.109]), UPRIGHT),
    names={
        ROOT_BODY: "base",
        **{f"robot0_{link}": link for link in _SAWYER_LINKS},
        **{f"robot0_right_j{i}": f"right_j{i}" for i in range(7)},
        **_gripper(
            {
                "gripper_base": "right_gripper_base",
                "eef": "right_gripper_grip_site",
                "l_finger": "right_gripper_l_finger",
                "r_finger": "right_gripper_r_finger",
                "l_finger_tip": "right_gripper_l_finger_tip",
                "r_finger_tip": "right_gripper_r_finger_tip",
                "l_finger_joint": "right_gripper_l_finger_joint",
                "r_finger_joint": "right_gripper_r_finger_joint",
            }
        ),
        **_MOUNT,
    },
)
"""With Rethink's electric parallel gripper, whose fingertip pads cannot meet: they stay 13 mm apart."""

ARMS = {arm.robot: arm for arm in (PANDA, SAWYER)}
"""By the name of the description."""


def arm_of(robot: str) -> Arm:
    """Return the arm of a description. Raises NotFoundError, naming those that exist."""
    if robot not in ARMS:
        raise NotFoundError(f"robot_id: robosuite has no arm '{robot}' here; it has {', '.join(ARMS)}")
    return ARMS[robot]
