"""Gates between a skill and a robot: embodiment, capabilities, control mode, joints and limits."""

from __future__ import annotations

from collections.abc import Iterator

from openral_core.adapters.state_layout import finger_joints
from openral_core.manifest import RSkillManifest
from openral_core.manifest.actuators import GRIPPER_MODES
from openral_core.robot import RobotDescription
from openral_core.scene import DeployScene
from openral_core.vocabulary import ControlMode
from openral_rskill.checks.finding import Finding

CONTROL_MODES: dict[str, ControlMode] = {
    "joint_positions": "joint_position",
    "joint_velocities": "joint_velocity",
    "delta_ee_6d_plus_gripper": "cartesian_delta",
    "delta_ee_6d": "cartesian_delta",
    "delta_ee_3d_plus_gripper": "cartesian_delta",
    "delta_joints_plus_gripper": "joint_position",
    "cartesian_pose": "cartesian_pose",
}
"""Representation of an action -> control mode of the arm."""


def embodiment(manifest: RSkillManifest, robot: RobotDescription) -> Finding:
    """Check that the skill and the robot have an embodiment tag in common, or that the skill has the tag `any`."""
    tags = manifest.embodiment_tags
    ok = "any" in tags or not set(tags).isdisjoint(robot.embodiment_tags)
    fix = f"choose a scene whose robot is one of {', '.join(tags)}"
    return Finding.of(
        "embodiment", ok, f"robot {robot.name} ({', '.join(robot.embodiment_tags)})", ", ".join(tags), fix
    )


def capabilities(manifest: RSkillManifest, robot: RobotDescription) -> Iterator[Finding]:
    """Check that each capability flag that the skill requires has the required value."""
    for name, value in manifest.capabilities_required.items():
        found = robot.capabilities.flags.get(name)
        fix = f"choose a robot with {name}: {str(value).lower()}"
        shown = "not stated" if found is None else str(found).lower()
        yield Finding.of(f"capability {name}", found is value, shown, str(value).lower(), fix)


def control_mode(manifest: RSkillManifest, robot: RobotDescription, scene: DeployScene) -> Iterator[Finding]:
    """Check that the robot supports the control mode of the skill's actions.

    The mode of the arm follows from `action_contract.representation`, else from the scene's. The kinds of
    `actuators_required` are used for grippers only, since older manifests name `joint_position` for every arm.
    """
    contract = manifest.action_contract
    representation = (contract.representation if contract else None) or scene.action.representation
    kinds = [actuator.kind for actuator in manifest.actuators_required]
    wanted = [CONTROL_MODES[representation], *(kind for kind in kinds if kind in GRIPPER_MODES)]
    offered = robot.capabilities.supported_control_modes
    missing = [mode for mode in wanted if not _is_offered(mode, offered)]
    fix = f"choose a robot that takes {', '.join(missing)}"
    yield Finding.of("control mode", not missing, ", ".join(offered), ", ".join(wanted), fix)
    counts = [actuator.n_dof for actuator in manifest.actuators_required]
    if contract is not None and counts and None not in counts:
        total = sum(count or 0 for count in counts)
        fix = f"let the n_dof of actuators_required add up to {contract.dim}"
        yield Finding.of(
            "actuators", total == contract.dim, f"{total} numbers", f"{contract.dim} numbers", fix
        )


def joint_order(manifest: RSkillManifest, robot: RobotDescription) -> Iterator[Finding]:
    """Check that actions list joints in the robot's order, in which they are executed."""
    for number, actuator in enumerate(manifest.actuators_required):
        order = actuator.control_mode_semantics.joint_order
        if order is not None:
            ours = [name for name in robot.joint_names if name in order]
            fix = f"let the checkpoint's actions be in the order of {robot.name}, and name its joints so"
            name = f"joint order of actuators_required.{number}"
            yield Finding.of(
                name, list(order) == ours, ", ".join(ours) or "none of them", ", ".join(order), fix
            )


def starting_pose(manifest: RSkillManifest, robot: RobotDescription) -> Iterator[Finding]:
    """Check that the robot has the joints of the skill's starting pose."""
    if manifest.starting_pose:
        unknown = sorted(set(manifest.starting_pose) - set(robot.joint_names))
        found = f"unknown {', '.join(unknown)}" if unknown else "all joints known"
        fix = f"name joints of {robot.name}: {', '.join(robot.joint_names)}"
        yield Finding.of("starting pose", not unknown, found, ", ".join(manifest.starting_pose), fix)


def bindings(manifest: RSkillManifest, robot: RobotDescription) -> Iterator[Finding]:
    """Check that the robot has the frame and the joints that the skill's state vector reads."""
    bound = manifest.state_contract.bindings if manifest.state_contract else None
    joints = finger_joints(manifest)
    if bound is not None:
        frame = robot.end_effectors[0].frame
        fix = f"the hand's pose is that of {frame} in {robot.name}; choose a robot that gives another"
        yield Finding.of("state frame", bound.eef_frame == frame, frame, bound.eef_frame, fix)
    elif not joints:
        return
    unknown = sorted(set(joints) - set(robot.joint_names))
    found = f"unknown {', '.join(unknown)}" if unknown else "all joints known"
    fix = f"bind gripper_qpos_joints to joints of {robot.name}: {', '.join(robot.joint_names)}"
    yield Finding.of("state joints", not unknown, found, ", ".join(joints), fix)


def envelope(manifest: RSkillManifest, robot: RobotDescription, scene: DeployScene) -> Iterator[Finding]:
    """Check that speed limit and workspace of robot and scene are within the skill's envelope."""
    wanted = manifest.envelope
    if wanted is None:
        return
    if wanted.max_ee_speed_m_s is not None:
        speed = robot.safety.max_ee_speed_m_s
        fix = f"lower safety.max_ee_speed_m_s of {robot.name} to {wanted.max_ee_speed_m_s:g}"
        needed = f"at most {wanted.max_ee_speed_m_s:g} m/s"
        yield Finding.of("speed", speed <= wanted.max_ee_speed_m_s, f"{speed:g} m/s allowed", needed, fix)
    if wanted.workspace is not None:
        inner, outer = scene.workspace, wanted.workspace
        ok = inner is not None and all(
            outer.low[axis] <= inner.low[axis] and inner.high[axis] <= outer.high[axis] for axis in range(3)
        )
        found = f"{inner.low} to {inner.high}" if inner else "none"
        fix = "make the scene's workspace smaller"
        yield Finding.of("workspace", ok, found, f"inside {outer.low} to {outer.high} m", fix)


def _is_offered(mode: ControlMode, offered: tuple[ControlMode, ...]) -> bool:
    """Return whether a control mode is supported; a robot with any gripper mode supports all of them."""
    return mode in offered or (mode in GRIPPER_MODES and any(other in offered for other in GRIPPER_MODES))
