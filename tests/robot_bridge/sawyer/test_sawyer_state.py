"""What a Sawyer says of itself, message by message."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from openral_core.hardware.arm_mode import ArmMode
from openral_robot_bridge import intera
from openral_robot_bridge.drivers.sawyer_gripper import SawyerGripper
from openral_robot_bridge.drivers.sawyer_state import SawyerState

JOINTS = tuple(f"right_j{number}" for number in range(7))


class Topics:
    """Stands in for a node of ROS 1: keeps what listens to each topic."""

    def __init__(self) -> None:
        self.heard: dict[str, Callable[[Any], None]] = {}

    def subscribe(self, topic: str, name: str, heard: Callable[[Any], None]) -> Any:
        self.heard[topic] = heard
        return SimpleNamespace(faults={})

    def publish(self, topic: str, name: str) -> Any:
        return SimpleNamespace()

    def joints(self, position: np.ndarray, velocity: np.ndarray) -> None:
        message = SimpleNamespace(name=list(JOINTS), position=position, velocity=velocity)
        self.heard[intera.JOINT_STATES](message)


def enabled() -> Any:
    """The state of an arm that is ready to move."""
    said = {
        "enabled": True,
        "ready": True,
        "homed": True,
        "stopped": False,
        "error": False,
        "lowVoltage": False,
    }
    return SimpleNamespace(**said, estop_button=0, estop_source=0)


def test_a_joint_whose_position_or_velocity_is_no_number_is_a_fault_until_it_is_one_again() -> None:
    topics = Topics()
    state = SawyerState(topics, JOINTS)  # type: ignore[arg-type]
    topics.heard[intera.STATE](enabled())
    here, strange = np.zeros(7), np.array([0, 0, 0, np.nan, 0, 0, 0])

    for position, velocity in ((strange, here), (here, strange)):
        topics.joints(position, velocity)
        mode, why = state.mode()
        assert mode is ArmMode.FAULT
        assert why == ("positions or velocities of joints that are no numbers",)
    topics.joints(here, here)
    assert state.mode() == (ArmMode.IDLE, ())


@pytest.mark.parametrize("data", ['["wide"]', "[null]", "{}", "[]", "[NaN]", "no JSON", "[[0.02]]"])
def test_a_gripper_that_says_no_number_keeps_its_last_width(data: str) -> None:
    topics = Topics()
    gripper = SawyerGripper(topics)  # type: ignore[arg-type]
    try:
        for said in ("[0.03]", data):
            signal = SimpleNamespace(name="position_response_m", data=said)
            topics.heard[intera.GRIPPER_STATE](SimpleNamespace(signals=[signal], commands=[]))
        assert gripper.width_m == 0.03
    finally:
        gripper.close()
