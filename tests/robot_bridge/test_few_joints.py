"""A real arm of fewer than six joints, whose hand cannot turn in all directions."""

from __future__ import annotations

import copy
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import yaml

sys.path.append(str(Path(__file__).parents[1] / "sim_bridge" / "mjcf"))

from mjcf_parts import ROBOT, write_scene

from openral_core.scene import load_scene
from openral_robot_bridge.robot_arm import RobotArm


@pytest.fixture
def arm(tmp_path: Path) -> Iterator[RobotArm]:
    """An arm that turns, lifts, and reaches out by up to 0.3 m."""
    robot = copy.deepcopy(ROBOT)
    for joint in robot["joints"]:
        joint |= {"acceleration_limit": 10.0, "jerk_limit": 500.0}
    path = write_scene(tmp_path, robot=robot, control_hz=20)
    safety = {"hold_to_run": False, "slow_start_s": 0.0, "command_timeout_s": 5.0}
    content = {
        **yaml.safe_load(path.read_text()),
        "arm": {"driver": "fake", "address": "arm", "safety": safety},
    }
    path.write_text(yaml.safe_dump(content))
    with closing(RobotArm(load_scene(path))) as made:
        yield made


def drive(step: Callable[[], object], steps: int) -> None:
    for _ in range(steps):
        step()
        time.sleep(0.05)


def test_an_arm_of_three_joints_moves_and_knows_how_far_it_is_from_a_singular_posture(arm: RobotArm) -> None:
    before, joints = arm.robot_state().ee_position[2], arm.start
    drive(lambda: arm.step(np.array([0.0, 0.0, 0.5, -1.0])), 10)  # 1 cm up
    assert arm.stopped_by == ""
    assert arm.robot_state().ee_position[2] > before + 0.02
    slopes = [
        np.log(arm.geometry.condition(joints + way) / arm.geometry.condition(joints - way)) / 2e-5
        for way in 1e-5 * np.eye(3)
    ]
    assert arm.geometry.condition_slope(joints) == pytest.approx(slopes, rel=1e-5, abs=1e-6)


def test_the_margin_of_angles_is_none_of_a_joint_that_slides(arm: RobotArm) -> None:
    assert arm.start[2] == pytest.approx(0.1)
    drive(lambda: arm.step_joints(arm.start - np.array([0.0, 0.0, 0.09])), 20)
    assert arm.process.read().positions[2] == pytest.approx(0.01, abs=2e-3)
    assert arm.margin.tolist() == [0.1, 0.1, 0.0]
