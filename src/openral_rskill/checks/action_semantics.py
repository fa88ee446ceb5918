"""Gates for what a skill's manifest says of its numbers' meaning, against how a scene executes them.

A scene executes a row of actions by its representation: displacements in the world's axes, and a last number that opens
the gripper at -1 and closes it at 1. Numbers that mean something else would move the arm another way.
"""

from __future__ import annotations

from collections.abc import Iterator

from openral_core.manifest import RSkillManifest
from openral_core.manifest.actuators import CARTESIAN_MODES, GRIPPER_MODES
from openral_core.robot import RobotDescription
from openral_core.scene import DeployScene
from openral_rskill.checks.embodiment import CONTROL_MODES
from openral_rskill.checks.finding import Finding

GRIPPER = "binary_close_one"
"""The convention of a representation's last number where it is the gripper's."""
SET_POINTS = {"joint_positions": "joint_position", "cartesian_pose": "cartesian_pose"}
"""Representation of absolute numbers -> kind of the actuator that they command."""
OF_THE_HAND = ("tool", "tool0", "tcp", "ee", "eef", "end_effector", "hand", "gripper")
"""Usual names of frames that turn with the hand, beside those of the robot's own."""


def action_semantics(
    manifest: RSkillManifest, robot: RobotDescription, scene: DeployScene
) -> Iterator[Finding]:
    """Check frame and mode of the numbers, the direction of the gripper, and the order, as far as they are stated."""
    contract = manifest.action_contract
    representation = (contract.representation if contract else None) or scene.action.representation
    semantics = [(part.kind, part.control_mode_semantics) for part in manifest.actuators_required]
    hands = {hand.frame for hand in robot.end_effectors}
    frames = [said.reference_frame for kind, said in semantics if kind in CARTESIAN_MODES]
    frames += [
        slot.frame for slot in (contract and contract.slots) or () if slot.control_mode in CARTESIAN_MODES
    ]
    for frame in dict.fromkeys(frame for frame in frames if frame is not None):
        fix = "take a checkpoint whose displacements are in the axes of world or base, which do not turn with it"
        ok = frame not in hands and frame.lower() not in OF_THE_HAND
        yield Finding.of("action frame", ok, "the world's axes", frame, fix)
    for mode in (said.mode for kind, said in semantics if kind == SET_POINTS.get(representation)):
        fix = "choose a scene that takes displacements, or correct the mode that actuators_required states"
        yield Finding.of("action mode", mode == "absolute", f"{representation}, set points", mode, fix)
    if representation.endswith("_plus_gripper"):
        for convention in (said.gripper_convention for _, said in semantics):
            if convention is not None:
                fix = f"let its processors make the last number one of {GRIPPER} (-1 opens, 1 closes), and say so"
                yield Finding.of("gripper", convention == GRIPPER, f"{GRIPPER} (-1 opens)", convention, fix)
    yield from _slots(manifest, representation)


def _slots(manifest: RSkillManifest, representation: str) -> Iterator[Finding]:
    """Check that the slots of an action, where stated, are those of its representation."""
    contract = manifest.action_contract
    if contract is None or not contract.slots:
        return
    arm, has_gripper = CONTROL_MODES[representation], representation.endswith("_plus_gripper")
    ok = True
    for slot in contract.slots:
        first, end = slot.range
        is_last = has_gripper and end == contract.dim
        is_gripper = slot.control_mode in GRIPPER_MODES
        is_joint = arm.startswith("joint") and is_gripper  # a gripper's joint is one of a row of joints
        fits = is_gripper and end - first == 1 if is_last else slot.control_mode == arm or is_joint
        ok = ok and fits and not slot.discard
    needed = ", ".join(f"{slot.control_mode}{' (discarded)' * slot.discard}" for slot in contract.slots)
    executed = f"{arm}, then one number of the gripper" if has_gripper else arm
    fix = f"take a checkpoint whose rows are {executed}; a scene executes no others and discards none"
    yield Finding.of("action slots", ok, representation, needed, fix)
