"""Joint control: the envelope keeps every joint within its range and speed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from openral_control.envelope import Envelope
from openral_core.errors import EnvelopeError, ManifestError
from openral_core.robot import load_robot
from openral_core.scene import SceneAction, load_scene
from openral_core.types import RobotState

SCENE = load_scene("robosuite_sawyer_joints")
ROBOT = load_robot("sawyer_rethink")
HOME = np.array([0.0, -1.18, 0.0, 2.18, 0.0, 0.57, 3.3, 0.08, 0.02, -0.02])


def state(**joints: float) -> RobotState:
    positions = HOME.copy()
    for name, value in joints.items():
        positions[ROBOT.joint_names.index(name)] = value
    return RobotState(0.0, ROBOT.joint_names, positions, np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), 0.08)


def check(
    chunk: NDArray[np.floating], now: RobotState | None, *, scene: object = SCENE, past: int = 0
) -> None:
    Envelope(scene, ROBOT).check(chunk, dim=8, dt=0.05, age_s=0.0, state=now, past=past)  # type: ignore[arg-type]


def towards(joint: int, steps: int, command: float = 1.0) -> NDArray[np.float32]:
    chunk = np.zeros((steps, 8), np.float32)
    chunk[:, joint] = command
    return chunk


def test_a_full_command_of_every_joint_is_allowed() -> None:
    check(np.ones((8, 8), np.float32), state())
    check(-np.ones((8, 8), np.float32), state())


def test_a_chunk_that_leads_out_of_a_range_is_refused_whole() -> None:
    near = state(right_j1=2.0)
    check(towards(1, 5), near)
    with pytest.raises(EnvelopeError, match=r"joint range: step 5 leads right_j1 to 2\.300 rad, out of"):
        check(towards(1, 6), near)
    check(towards(1, 6), near, past=1)


def test_a_joint_outside_is_led_back_and_not_further_out() -> None:
    outside = state(right_j1=2.4)
    check(towards(1, 8, -1.0), outside)
    check(towards(1, 8, 0.0), outside)
    with pytest.raises(EnvelopeError, match="joint range: step 0 leads right_j1"):
        check(towards(1, 1), outside)


def test_a_joint_is_not_led_faster_than_it_may_turn() -> None:
    quick = SCENE.model_copy(update={"action": SCENE.action.model_copy(update={"step_rad": 0.07})})
    check(towards(0, 2), state(), scene=quick)
    with pytest.raises(
        EnvelopeError, match=r"joint speed: step 0 moves right_j1 at 1\.400 rad/s, allowed 1\.328"
    ):
        check(towards(1, 2), state(), scene=quick)


def test_positions_that_are_not_known_are_refused() -> None:
    with pytest.raises(EnvelopeError, match="the positions of the joints are unknown"):
        check(towards(0, 1), None)
    with pytest.raises(EnvelopeError, match="the position of right_j3 is unknown"):
        check(towards(0, 1), state(right_j3=np.nan))
    nameless = replace(state(), joint_names=tuple(f"x{i}" for i in range(10)))
    with pytest.raises(EnvelopeError, match="the position of right_j0 is unknown"):
        check(towards(0, 1), nameless)


def test_a_robot_with_other_joints_is_refused() -> None:
    longer = SCENE.action.model_copy(update={"dim": 9, "low": (-1.0,) * 9, "high": (1.0,) * 9})
    with pytest.raises(EnvelopeError, match=r"joints: sawyer_rethink has 7 of role arm, action\.dim 9"):
        Envelope(SCENE.model_copy(update={"action": longer}), ROBOT)


def test_a_scene_must_say_what_a_command_is() -> None:
    words = {**SCENE.action.model_dump(), "step_rad": None}
    with pytest.raises(
        (ManifestError, ValueError), match="step_rad: is missing for delta_joints_plus_gripper"
    ):
        SceneAction.model_validate(words)
