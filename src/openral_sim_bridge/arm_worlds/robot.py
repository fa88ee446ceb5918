"""robosuite's Panda under the names that its ROS description has.

The bodies and joints are robosuite's, so the frames are where the simulation has them (0.5 mm short of Franka's own
description at the flange, and the second finger moves from 0 to -0.04 m).
"""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np

from openral_core.errors import SimulationError
from openral_sim_bridge.backend import Frame, RobotModel

ARM_JOINTS = tuple(f"panda_joint{i}" for i in range(1, 8))
FINGER_JOINTS = ("panda_finger_joint1", "panda_finger_joint2")
GRIPPER_JOINT = "panda_gripper"
"""Not a joint of the model: the distance between the fingers [m]."""
ROOT_BODY = "robot0_base"
"""robosuite's name of the body that the arm and its mount hang from."""
COLLISION_GROUP = 0
"""robosuite's geometry group of collision shapes."""
TOOL = Frame("panda_hand", "panda_hand_tcp", np.array([0.0, 0.0, 0.097]), np.array([0.0, 0.0, 0.0, 1.0]))
"""The end effector of LIBERO's observations: `robot0_eef_pos` is a site between the fingertips, while
`robot0_eef_quat` is the hand's orientation."""

_GRIPPER = {
    "right_gripper": "panda_gripper_body",
    "eef": "panda_grip_site",
    "leftfinger": "panda_leftfinger",
    "rightfinger": "panda_rightfinger",
    "finger_joint1_tip": "panda_leftfinger_tip",
    "finger_joint2_tip": "panda_rightfinger_tip",
    "finger_joint1": "panda_finger_joint1",
    "finger_joint2": "panda_finger_joint2",
}
_MOUNT = ("base", "controller_box", "pedestal_feet", "torso", "pedestal")
NAMES = {
    ROOT_BODY: "panda_base",
    **{f"robot0_link{i}": f"panda_link{i}" for i in range(8)},
    **{f"robot0_joint{i}": f"panda_joint{i}" for i in range(1, 8)},
    "robot0_right_hand": "panda_hand",
    # The prefixes of robosuite 1.4 (LIBERO), and those of 1.5.
    **{f"gripper0_{name}": ours for name, ours in _GRIPPER.items()},
    **{f"gripper0_right_{name}": ours for name, ours in _GRIPPER.items()},
    **{f"mount0_{part}": f"mount_{part}" for part in _MOUNT},
    **{f"fixed_mount0_{part}": f"mount_{part}" for part in _MOUNT},
}
"""robosuite's names of bodies and joints -> ours."""


def as_panda(robot: RobotModel, base_frame: str) -> RobotModel:
    """Give a description made from robosuite's model our names, and add the end effector's frame.

    Raises:
        SimulationError: it has no link `base_frame` then.
    """
    root = ET.fromstring(robot.urdf)
    for element in root.iter():
        for key in ("name", "link"):
            if key in element.attrib:
                element.set(key, _renamed(element.attrib[key]))
    _add_tool(root)
    if all(link.get("name") != base_frame for link in root.findall("link")):
        raise SimulationError(f"this Panda has no link '{base_frame}'; see base_frame in robot.yaml")
    ET.indent(root)
    text = '<?xml version="1.0"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
    return RobotModel(text, replace(robot.base, child=_renamed(robot.base.child)))


def _renamed(name: str) -> str:
    """Fixed joints and materials are called after a link, with an ending."""
    if name in NAMES:
        return NAMES[name]
    stem, _, ending = name.rpartition("_")
    return f"{NAMES[stem]}_{ending}" if stem in NAMES else name


def _add_tool(root: ET.Element) -> None:
    ET.SubElement(root, "link", name=TOOL.child)
    joint = ET.SubElement(root, "joint", name=f"{TOOL.child}_fixed", type="fixed")
    ET.SubElement(joint, "parent", link=TOOL.parent)
    ET.SubElement(joint, "child", link=TOOL.child)
    ET.SubElement(joint, "origin", xyz=" ".join(f"{value:g}" for value in TOOL.position), rpy="0 0 0")
