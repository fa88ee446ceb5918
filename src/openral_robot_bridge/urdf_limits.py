"""Reads joint limits from the URDF that an arm sends, with the extensions of Franka's description."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np

from openral_control.safety.joint_limits import ArmLimits
from openral_core.errors import ControlError, nearest
from openral_core.hardware.urdf import parse_urdf


def read_limits(urdf: str, names: tuple[str, ...]) -> ArmLimits:
    """Return the limits of joints (n,) in a URDF.

    Args:
        urdf: XML text; as it comes from the network, entities are not resolved.
        names: of the joints, compared by their last part, as an arm may call `fr3_joint1` `joint1`.

    Raises:
        ControlError: the text is not a URDF, or a joint or its limits are missing.
    """
    try:
        root = parse_urdf(urdf)
    except ValueError as error:
        raise ControlError(f"the arm's URDF {error}") from error
    joints = {joint.get("name", ""): joint for joint in root.iter("joint") if joint.get("type") == "revolute"}
    rows = [_limits(_joint(joints, name), name) for name in names]
    low, high, velocity, offset, deceleration = np.array(rows, dtype=np.float64).T
    free = np.full(len(names), np.inf)
    return ArmLimits(names, low, high, velocity, free, free.copy(), offset, deceleration)


def _joint(joints: dict[str, ElementTree.Element], name: str) -> ElementTree.Element:
    ending = name.rsplit("_", 1)[-1]
    found = [joint for other, joint in joints.items() if other.rsplit("_", 1)[-1] == ending]
    if len(found) != 1:
        known, close = ", ".join(sorted(joints)[:8]) or "none", nearest(name, sorted(joints))
        fix = f"did you mean '{close}' in robot.yaml? It" if close and not found else "it"
        raise ControlError(f"the arm's URDF has {len(found)} revolute joints for {name}; {fix} has {known}")
    return found[0]


def _limits(joint: ElementTree.Element, name: str) -> tuple[float, float, float, float, float]:
    limit, braking = joint.find("limit"), joint.find("position_based_velocity_limits")
    if limit is None:
        raise ControlError(f"the arm's URDF gives joint {name} no limit")
    try:
        low, high, velocity = (float(limit.attrib[key]) for key in ("lower", "upper", "velocity"))
        if braking is None:
            return low, high, velocity, 0.0, np.inf
        offset = float(braking.attrib["velocity_offset"])
        return low, high, velocity, offset, float(braking.attrib["deceleration_limit"])
    except (KeyError, ValueError) as error:
        raise ControlError(f"the arm's URDF: the limit of joint {name} lacks a number ({error})") from error
