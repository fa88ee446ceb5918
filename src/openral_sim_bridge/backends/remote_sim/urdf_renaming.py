"""Renames the links and joints of a URDF made from robosuite's model to the names of the arm's ROS description."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from xml.etree import ElementTree as ET

from openral_core.errors import SimulationError
from openral_sim_bridge.backend import Frame, RobotModel
from openral_sim_bridge.backends.remote_sim.arm_models import ArmModel

COLLISION_GROUP = 0
"""robosuite's geometry group of collision shapes."""


def named(robot: RobotModel, arm: ArmModel, base_frame: str) -> RobotModel:
    """Return a robot model made from robosuite's with the names of the ROS description and the end effector's frame.

    Raises:
        SimulationError: the renamed model has no link `base_frame`.
    """
    root = ET.fromstring(robot.urdf)
    for element in root.iter():
        for key in ("name", "link"):
            if key in element.attrib:
                element.set(key, _renamed(element.attrib[key], arm.names))
    _add(root, arm.tool)
    if all(link.get("name") != base_frame for link in root.findall("link")):
        raise SimulationError(
            f"robosuite's {arm.model} has no link '{base_frame}'; see base_frame in robot.yaml"
        )
    ET.indent(root)
    text = '<?xml version="1.0"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
    return RobotModel(text, replace(robot.base, child=_renamed(robot.base.child, arm.names)))


def _renamed(name: str, names: Mapping[str, str]) -> str:
    """Return the new name of a link or joint, or of a fixed joint or material, whose name is a link's with a suffix."""
    if name in names:
        return names[name]
    stem, _, ending = name.rpartition("_")
    return f"{names[stem]}_{ending}" if stem in names else name


def _add(root: ET.Element, frame: Frame) -> None:
    ET.SubElement(root, "link", name=frame.child)
    joint = ET.SubElement(root, "joint", name=f"{frame.child}_fixed", type="fixed")
    ET.SubElement(joint, "parent", link=frame.parent)
    ET.SubElement(joint, "child", link=frame.child)
    ET.SubElement(joint, "origin", xyz=" ".join(f"{value:g}" for value in frame.position), rpy="0 0 0")
