"""Commands to a Sawyer's twin that its clients would not send; ROS 1 keeps nobody from sending them."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rosbags")

from openral_control.safety.joint_limits import limits_of
from openral_core.robot import load_robot
from openral_core.scene import load_scene
from openral_robot_bridge import intera
from openral_robot_bridge.ros1.messages import MessageTypes
from openral_robot_bridge.twins.arm import TwinArm
from openral_robot_bridge.twins.sawyer.controller import DEFAULT_TIMEOUT_S, STEP_S, SawyerController
from openral_robot_bridge.twins.sawyer.gripper import TwinGripper

TYPES = MessageTypes(intera.DEFINITIONS)


@pytest.fixture(scope="module")
def arm() -> TwinArm:
    return TwinArm(load_scene("sawyer_tabletop"), load_robot("sawyer_rethink"), STEP_S)


@pytest.mark.parametrize(
    "signals",
    [
        [],
        {"position_m": {"data": ["wide"]}},
        {"position_m": {"data": [None]}},
        {"position_m": {"data": {}}},
        {"position_m": {"data": [math.nan]}},
        {"speed_mps": {"data": [math.inf]}},
        {"position_m": [0.01]},
    ],
)
def test_a_command_of_another_form_is_answered_and_moves_nothing(arm: TwinArm, signals: Any) -> None:
    gripper = TwinGripper(arm, TYPES)
    gripper.command(
        TYPES.make(
            "intera_core_msgs/IOComponentCommand",
            time=TYPES.time(1.0),
            op="set",
            args=json.dumps({"signals": signals}),
        )
    )
    state = gripper.cycle(2.0)
    assert state.responses == ["the arguments are no signals in JSON"]
    for _ in range(50):
        arm.advance()
    assert np.isfinite(arm.world).all()


def test_a_timeout_that_is_no_number_is_not_taken(arm: TwinArm) -> None:
    controller = SawyerController(arm, limits_of(load_robot("sawyer_rethink")))
    controller.set_timeout(math.nan)
    assert controller.timeout_s == DEFAULT_TIMEOUT_S
