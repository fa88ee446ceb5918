"""Slow motion of an arm to its scene's start pose, through the same safety filter as all motions."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from openral_control.estop_latch import EStopLatch, latch_of_arm
from openral_core.graph.namespaces import DEFAULT_NAMESPACE, estop_reset_command
from openral_core.hardware.arm_mode import ArmMode
from openral_core.scene import DeployScene
from openral_robot_bridge.driver import ArmError
from openral_robot_bridge.robot_arm import RobotArm
from openral_robot_bridge.scene_loading import robot_command

SPEED_RAD_S = 0.2
"""[rad/s] speed of the joint that is furthest from its start position."""
THERE_RAD = 0.02
"""[rad] largest joint error at which the start pose counts as reached."""
STUCK_S = 3.0
"""[s] without progress after which the motion is given up."""


def require_released(scene: DeployScene) -> None:
    """Require that no emergency stop of a scene's arm is latched by a deployment of this user.

    Raises:
        ArmError: one is.
    """
    assert scene.arm is not None  # `load_arm_scene`
    latch = EStopLatch(latch_of_arm(scene.arm.driver, scene.arm.address))
    if latch.latched:
        raise ArmError(
            f"the emergency stop of the arm at {scene.arm.address} is still latched, as {latch.path} remembers; see "
            f"that all is safe, start a deployment of it, and run `{estop_reset_command(DEFAULT_NAMESPACE)}`"
        )


def go_home(scene: DeployScene, say: Callable[[str], None]) -> None:
    """Move the joints on a straight line to the scene's start pose; an interrupt (Ctrl-C) brings the arm to rest.

    The operator must watch the arm, as the call itself counts as hold-to-run.

    Args:
        scene: with a section `arm`.
        say: prints a line for the operator.

    Raises:
        ArmError: a check of the safety filter, named in the message, stopped the arm on its path.
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
