"""A motion that an operator has interrupted: it begins anew from where the hand is then."""

from __future__ import annotations

import numpy as np

from openral_control.motions.arm import MotionArm
from openral_core.robot import load_robot
from openral_core.scene import load_scene
from openral_core.types import RobotState
from openral_policy_nodes.inference import SensorSet
from openral_policy_nodes.motion_source import MotionSource

SCENE = load_scene("metaworld_drawer")
GOAL = "a" * 32


def sensors(stamp_s: float, position: np.ndarray) -> SensorSet:
    upright = np.array([0.0, 0.0, 0.0, 1.0])
    state = RobotState(stamp_s, (), np.zeros(0), position, upright, 0.07)
    return SensorSet(stamp_ns=round(stamp_s * 1e9), images={}, state=state, frame_id="world")


def test_a_hand_that_an_operator_took_away_is_led_again_and_is_not_called_stuck() -> None:
    arm = MotionArm.of(SCENE, load_robot(SCENE.robot_id))
    source = MotionSource(arm)
    middle = (arm.box_low + arm.box_high) / 2
    target = middle + np.array([0.1, 0.0, 0.0])
    begin = sensors(1.0, middle)
    source.plan(GOAL, "move_to", {"position": target.tolist()}, begin.state)
    source.reset(GOAL)
    first = source.chunk(begin, GOAL, "move", 0)
    assert first.end is None
    assert first.data[0, 0] > 0.0

    source.reset(GOAL)  # the arm was given back, half a minute later, and on the other side of the target
    away = sensors(31.0, target + np.array([0.05, 0.0, 0.0]))
    again = source.chunk(away, GOAL, "move", 1)
    assert again.end is None
    assert again.data[0, 0] < 0.0
