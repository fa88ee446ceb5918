"""Checks that the start poses of an arm are within the ranges of its joints."""

from __future__ import annotations

import math
from collections.abc import Iterator

from openral_core.robot import Joint, RobotDescription
from openral_core.schema import Fault
from openral_sim_bridge.backends.mjcf.initial import InitialStates
from openral_sim_bridge.backends.mjcf.name_lookup import Naming
from openral_sim_bridge.backends.mjcf.options import MjcfOptions

ROUNDING = 1e-6
"""[rad or m] excess over a range that is accepted as rounding."""


def start_faults(
    robot: RobotDescription, options: MjcfOptions, states: InitialStates, naming: Naming, margin_rad: float
) -> list[Fault]:
    """Return a fault for each joint of the arm that begins outside its range in robot.yaml.

    Args:
        robot: whose joints of role arm are checked.
        options: of the scene.
        states: its initial states.
        naming: finds the joints.
        margin_rad: [rad] least distance of revolute joints from the ends of their ranges, as a real arm's safety filter
            requires.
    """
    faults: list[Fault] = []
    for key, qpos in states.poses():
        if key == "keyframes" and faults:
            break  # further keyframes likely have the same fault
        for joint in robot.joints:
            if joint.role == "arm" and joint.position_limits is not None:
                at = float(qpos[naming.address(joint.name)])
                faults += _faults(_given(key, joint.name, options, naming), joint, robot.name, at, margin_rad)
    return faults


def _given(key: str, joint: str, options: MjcfOptions, naming: Naming) -> str:
    """Return the key of the option that sets a joint's position in the pose of option `key`."""
    named = options.home if key == "home" and isinstance(options.home, dict) else {}
    return next((f"{key}.{name}" for name in (joint, naming.in_model(joint)) if name in named), key)


def _faults(key: str, joint: Joint, robot: str, at: float, margin_rad: float) -> Iterator[Fault]:
    assert joint.position_limits is not None
    unit, margin = ("m", 0.0) if joint.joint_type == "prismatic" else ("rad", margin_rad)
    low, high = joint.position_limits[0] + margin, joint.position_limits[1] - margin
    if low - ROUNDING <= at <= high + ROUNDING:
        return
    less = f" less arm.safety.position_margin_rad ({margin:g})" if margin else ""
    is_given = key.startswith("home.")
    begins = f"{at:g} {unit}" if is_given else f"{joint.name} begins at {at:g} {unit}, which"
    fix = f"{'write' if is_given else 'begin it at'} {low:.3f} to {high:.3f}"
    degrees = unit == "rad" and low <= math.radians(at) <= high
    unit_words = f"; angles are in radians, and {at:g} degrees are {math.radians(at):.4g}" if degrees else ""
    yield Fault(key, f"{begins} is outside of the range of {robot}{less}", f"{fix} {unit}{unit_words}")
