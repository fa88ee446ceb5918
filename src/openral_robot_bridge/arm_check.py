"""Checks of a real arm by `openral robot check`, none of which moves it."""

from __future__ import annotations

import time

import numpy as np

from openral_control.safety.joint_limits import ArmLimits, Vector
from openral_control.safety.workspace import TOLERANCE_M
from openral_core.hardware.arm_mode import ArmMode
from openral_core.manifest.contracts import Box
from openral_core.scene import DeployScene
from openral_robot_bridge.driver import ArmState
from openral_robot_bridge.findings import ArmFinding
from openral_robot_bridge.robot_arm import RobotArm
from openral_robot_bridge.scene_loading import robot_command

WATCHED_S = 1.0
"""[s] for which states are read, to measure their rate."""


def check_arm(scene: DeployScene) -> list[ArmFinding]:
    """Return the findings about a scene's arm: connection, limits, mode, start pose, boxes and rate of states.

    Raises:
        OpenralError: the scene is invalid, or the arm cannot be reached.
    """
    arm = RobotArm(scene, shadow=True)
    try:
        info, began = arm.process.info, time.monotonic()
        states: list[ArmState] = []
        while time.monotonic() - began < WATCHED_S:
            states.append(arm.process.read())
            time.sleep(0.005)
        rate = len(states) / (time.monotonic() - began)
        last, refusal = states[-1], arm.refusal
        versions = ", ".join(f"{name} {number}" for name, number in info.versions.items())
        return [
            ArmFinding("connection", True, versions),
            *_limit_rows(arm.robot_limits, info.limits),
            _mode_row(last, scene),
            _margin_row(arm, last, scene),
            ArmFinding(
                "start pose", not refusal, refusal or "the arm is near it", f"{refusal}, or change the scene"
            ),
            *_box_rows(scene, arm, last),
            ArmFinding(
                "states",
                rate >= scene.control_hz,
                f"{rate:.0f} a second, control_hz is {scene.control_hz:g}",
                "end what else keeps this computer or its network busy",
            ),
        ]
    finally:
        arm.close()


def _limit_rows(robot: ArmLimits, own: ArmLimits) -> list[ArmFinding]:
    rows = []
    for index, name in enumerate(robot.names):
        ranges = [(x.low[index], x.high[index], x.velocity[index]) for x in (robot, own)]
        (low, high, speed), (own_low, own_high, own_speed) = ranges
        fits = own_low <= low and high <= own_high and speed <= own_speed
        says = f"the arm {own_low:.3f} to {own_high:.3f} rad, {own_speed:.2f} rad/s"
        if not np.isfinite((own_low, own_high, own_speed)).any():
            says = "the arm does not say"
        found = f"robot.yaml {low:.3f} to {high:.3f} rad, {speed:.2f} rad/s; {says}"
        rows.append(
            ArmFinding(
                name, fits, found, "robot.yaml allows more than the arm; write the arm's own limits there"
            )
        )
    return rows


def _mode_row(state: ArmState, scene: DeployScene) -> ArmFinding:
    found = ", ".join([state.mode.value, *state.faults])
    fix = f"run `{robot_command('recover', scene)}`"
    if state.mode is ArmMode.USER_STOPPED:  # which no command releases
        fix = "release the user stop"
    return ArmFinding("mode", state.mode in (ArmMode.IDLE, ArmMode.MOVING), found, fix)


def _box_rows(scene: DeployScene, arm: RobotArm, state: ArmState) -> list[ArmFinding]:
    """Return whether hand and elbow are in their boxes, at the present posture and at the start pose."""
    assert scene.arm is not None
    poses = {"where the arm is": state.positions, "at the start pose": arm.start}
    points = {where: arm.geometry.points(joints) for where, joints in poses.items()}
    boxes = (
        ("workspace", "the hand", scene.workspace),
        ("arm.safety.elbow", "the elbow", scene.arm.safety.elbow),
    )
    return [
        _box_row(key, part, box, {where: found[index] for where, found in points.items()})
        for index, (key, part, box) in enumerate(boxes)
        if box is not None
    ]


def _box_row(key: str, part: str, box: Box, points: dict[str, Vector]) -> ArmFinding:
    """Return whether a part of the arm, which is at a point (3,) [m] in each of some postures, is in its box."""
    low, high = np.array(box.low) - TOLERANCE_M, np.array(box.high) + TOLERANCE_M
    outside = {where: point for where, point in points.items() if ((point < low) | (high < point)).any()}
    found = f"{part} is inside, where the arm is and at the start pose"
    if outside:
        places = "; ".join(f"{_place(point)} {where}" for where, point in outside.items())
        found = f"{part} is outside: {places}; the box: {_place(low)} to {_place(high)}"
    return ArmFinding(
        key, not outside, found, f"widen {key} in the scene, or move the arm or the start pose into it"
    )


def _place(point: Vector) -> str:
    return "(" + ", ".join(f"{number:.2f}" for number in point) + ") m"


def _margin_row(arm: RobotArm, state: ArmState, scene: DeployScene) -> ArmFinding:
    assert scene.arm is not None
    limits, margin = arm.process.limits, arm.margin
    room = np.minimum(state.positions - limits.low, limits.high - state.positions)
    joint = int(np.argmin(room - margin))
    unit = "rad" if margin[joint] == scene.arm.safety.position_margin_rad else "m"
    found = f"{limits.names[joint]} is the nearest, {room[joint]:.3f} {unit} from the end of its range"
    fix = f"guide it at least {margin[joint]:g} {unit} away from there by hand"
    return ArmFinding("ranges", bool(room[joint] >= margin[joint]), found, fix)
