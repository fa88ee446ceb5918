"""Leading an arm slowly to where its scene begins, through the same safety filter as everything else."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from openral_core.scene import DeployScene
from openral_robot_bridge.driver import ArmError, ArmMode
from openral_robot_bridge.robot_arm import RobotArm
from openral_robot_bridge.scene_loading import robot_command

SPEED_RAD_S = 0.2
"""[rad/s] of the joint that has the longest way."""
THERE_RAD = 0.02
"""[rad] off the start pose that counts as there."""
STUCK_S = 3.0
"""[s] without coming nearer after which it is given up."""


def go_home(scene: DeployScene, say: Callable[[str], None]) -> None:
    """Lead the joints straight to the scene's start pose. Interrupting it (Ctrl-C) brings the arm to rest.

    Whoever calls this watches the arm: it is the operator's sign of life.

    Raises:
        ArmError: a check of the safety filter let the arm go no further, by name.
        OpenralError: the arm cannot be reached or moved.
    """
    arm = RobotArm(scene, begin_anywhere=True)
    try:
        nearest, since = float("inf"), time.monotonic()
        _require_movable(arm, scene)
        while (off := _off(arm)) > THERE_RAD:
            due = time.monotonic() + scene.dt
            _require_movable(arm, scene)
            arm.beat()
            way = arm.start - arm.led
            arm.step_joints(
                arm.led + way * min(1.0, SPEED_RAD_S * scene.dt / float(np.abs(way).max() + 1e-9))
            )
            if off < nearest - 1e-3:
                nearest, since = off, time.monotonic()
            elif time.monotonic() - since > STUCK_S:
                why = arm.stopped_by or "its joints do not follow"
                raise ArmError(
                    f"the arm stays {off:.2f} rad off its start pose: {why}; guide it there by hand"
                )
            time.sleep(max(0.0, due - time.monotonic()))
        say(f"the arm is at its start pose, {_off(arm):.3f} rad off")
    finally:
        arm.close()


def _require_movable(arm: RobotArm, scene: DeployScene) -> None:
    if arm.state.mode not in (ArmMode.IDLE, ArmMode.MOVING):
        why = ", ".join([arm.state.mode.value, *arm.state.faults])
        raise ArmError(
            f"the arm cannot be moved ({why}); release its stop, or run `{robot_command('recover', scene)}`"
        )


def _off(arm: RobotArm) -> float:
    return float(np.abs(arm.state.positions - arm.start).max())
