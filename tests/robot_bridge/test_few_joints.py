"""A real arm of fewer than six joints, whose hand cannot turn in all directions."""

from __future__ import annotations

import copy
import sys
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import yaml

sys.path.append(str(Path(__file__).parents[1] / "sim_bridge" / "mjcf"))

from mjcf_parts import ROBOT, write_scene

from openral_core.scene import load_scene
from openral_robot_bridge.robot_arm import RobotArm


def test_an_arm_of_three_joints_moves_and_knows_how_far_it_is_from_a_singular_posture(tmp_path: Path) -> None:
    robot = copy.deepcopy(ROBOT)
    for joint in robot["joints"]:
        joint |= {"acceleration_limit": 10.0, "jerk_limit": 500.0}
    path = write_scene(tmp_path, robot=robot, control_hz=20)
    content = yaml.safe_load(path.read_text())
    safety = {
        "hold_to_run": False,
        "slow_start_s": 0.0,
        "command_timeout_s": 5.0,
        "position_margin_rad": 0.01,
    }
    path.write_text(
        yaml.safe_dump({**content, "arm": {"driver": "fake", "address": "arm", "safety": safety}})
    )
    with closing(RobotArm(load_scene(path))) as arm:
        before, joints = arm.robot_state().ee_position[2], arm.start
        for _ in range(10):
            arm.step(np.array([0.0, 0.0, 0.5, -1.0]))  # 1 cm up
            time.sleep(0.05)
        assert arm.stopped_by == ""
        assert arm.robot_state().ee_position[2] > before + 0.02
        slopes = [
            np.log(arm.geometry.condition(joints + way) / arm.geometry.condition(joints - way)) / 2e-5
            for way in 1e-5 * np.eye(3)
        ]
        assert arm.geometry.condition_slope(joints) == pytest.approx(slopes, rel=1e-5, abs=1e-6)
