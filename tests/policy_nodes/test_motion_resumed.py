"""A motion that an operator has interrupted: it begins anew from where the hand is then."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from openral_control.motions.arm import MotionArm
from openral_core.robot import load_robot
from openral_core.scene import load_scene
from openral_core.types import RobotState
from openral_policy_nodes.goal_supervisor import GoalEnd, GoalOutcome
from openral_policy_nodes.inference import SensorSet
from openral_policy_nodes.motion_source import MotionSource

SCENE = load_scene("metaworld_drawer")
GOAL = "a" * 32
ARM = MotionArm.of(SCENE, load_robot(SCENE.robot_id))
MIDDLE = (ARM.box_low + ARM.box_high) / 2
AHEAD, BESIDE = np.array([0.1, 0.0, 0.0]), np.array([0.0, 0.1, 0.0])


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


class Wall:
    """A path check by which no hand that is beside y = 0 reaches anything."""

    def fault(self, state: RobotState, path: Sequence[np.ndarray]) -> str:
        assert path, "the motion has not begun"
        return "a wall is between" if abs(state.ee_position[1] - MIDDLE[1]) > 0.05 else ""


def test_a_motion_that_begins_anew_looks_ahead_anew() -> None:
    source = MotionSource(ARM, Wall())
    begin = sensors(1.0, MIDDLE)
    source.plan(GOAL, "move_to", {"position": (MIDDLE + AHEAD).tolist()}, begin.state)
    source.reset(GOAL)
    assert source.chunk(begin, GOAL, "move", 0).end is None

    source.reset(GOAL)
    ended = source.chunk(sensors(31.0, MIDDLE + BESIDE), GOAL, "move", 1)
    assert ended.end == GoalEnd(GoalOutcome.FAILED, "reach", "a wall is between")
    assert len(ended.data) == 0
    assert source.chunk(sensors(31.1, MIDDLE + BESIDE), GOAL, "move", 2).end == ended.end, "it stays ended"


def test_a_motion_that_was_planned_before_a_state_came_looks_ahead_at_the_first() -> None:
    source = MotionSource(ARM, Wall())
    source.plan(GOAL, "move_to", {"position": MIDDLE.tolist()}, None)
    source.reset(GOAL)
    ended = source.chunk(sensors(1.0, MIDDLE + BESIDE), GOAL, "move", 0)
    assert ended.end == GoalEnd(GoalOutcome.FAILED, "reach", "a wall is between")
