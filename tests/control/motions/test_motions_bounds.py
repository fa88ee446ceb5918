"""No motion leaves the bounds of actions, speed and workspace, whatever the hand does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openral_control.envelope import Envelope
from openral_control.motions import MotionArm, MotionEnd, make_motion
from openral_core.robot import load_robot
from openral_core.scene import DeployScene, load_scene
from openral_core.types import RobotState

SCENES = ("metaworld_drawer", "tabletop_panda", "libero_goal")
"""Set points at 80 Hz and 20 Hz, and displacements from the hand."""
LOADED = {name: load_scene(name) for name in SCENES}
ROBOTS = {scene.robot_id: load_robot(scene.robot_id) for scene in LOADED.values()}
SHARE = st.floats(0.0, 1.0)


class SimulatedHand:
    """A hand that follows its set point with a lag, and that something stops at a height."""

    def __init__(self, scene: DeployScene, start: np.ndarray, lag_s: float, floor_m: float) -> None:
        self._scene, self._floor_m = scene, floor_m
        self._share = min(1.0, scene.dt / lag_s)
        self.hand = start.copy()
        self.set_point = start.copy()
        self.opening_m = 0.08
        self.steps = 0

    def state(self) -> RobotState:
        turned = np.array([1.0, 0.0, 0.0, 0.0])
        stamp_s = self.steps * self._scene.dt
        return RobotState(stamp_s, (), np.zeros(0), self.hand.copy(), turned, self.opening_m)

    def step(self, action: np.ndarray) -> None:
        from_hand = self._scene.action.counts_from == "hand"
        led = self.hand if from_hand else self.set_point
        self.set_point = led + float(self._scene.action.step_m or 0.0) * action[:3].astype(float)
        self.hand = self.hand + self._share * (self.set_point - self.hand)
        self.hand[2] = max(self.hand[2], self._floor_m)
        self.opening_m = float(np.clip(self.opening_m - 0.1 * self._scene.dt * action[-1], 0.0, 0.1))
        self.steps += 1


@st.composite
def orders(draw: st.DrawFn) -> tuple[DeployScene, MotionArm, str, dict[str, Any], SimulatedHand]:
    scene = LOADED[draw(st.sampled_from(SCENES))]
    arm = MotionArm.of(scene, ROBOTS[scene.robot_id])

    def inside() -> np.ndarray:
        return arm.box_low + (arm.box_high - arm.box_low) * np.array([draw(SHARE), draw(SHARE), draw(SHARE)])

    start, target = inside(), inside().round(3)
    target = np.clip(target, arm.box_low, arm.box_high)
    speed = draw(st.floats(0.01, 0.5))
    params: dict[str, dict[str, Any]] = {
        "move_to": {"position": target.tolist(), "clearance_m": draw(st.floats(0.0, 0.5))},
        "home": {"position": target.tolist()},
        "retract": {"height_m": draw(st.floats(0.01, 0.5))},
        "pick_at": {"point": target.tolist(), "approach_m": draw(st.floats(0.01, 0.5))},
        "place_at": {"point": target.tolist()},
        "set_gripper": {"fingers": draw(st.sampled_from(["open", "closed"]))},
    }
    name = draw(st.sampled_from(sorted(params)))
    values = params[name] | ({"speed_m_s": speed} if name != "set_gripper" else {})
    floor = float(arm.box_low[2]) + draw(st.floats(-0.1, 0.2))
    hand = SimulatedHand(scene, start, draw(st.floats(0.005, 0.15)), min(floor, float(start[2])))
    return scene, arm, name, values, hand


@settings(max_examples=25)
@given(orders(), st.integers(1, 6), st.integers(0, 2))
def test_every_chunk_passes_the_envelope_and_the_hand_stays_inside(
    order: tuple[DeployScene, MotionArm, str, dict[str, Any], SimulatedHand], replay: int, late: int
) -> None:
    """The bridge's own envelope judges each chunk; answers may come late, and chunks may be used for long."""
    scene, arm, name, params, hand = order
    envelope = Envelope(scene, ROBOTS[scene.robot_id])
    motion = make_motion(name, params, arm)
    speed = params.get("speed_m_s", 0.0)
    for _ in range(round(4.0 / scene.dt / replay)):
        answer = motion.advance(hand.state())
        if isinstance(answer, MotionEnd):
            break
        assert answer.dtype == np.float32
        assert (answer >= arm.low).all()
        assert (answer <= arm.high).all()
        assert (np.linalg.norm(answer[:, :3], axis=1) * arm.step_m <= speed * arm.dt * 1.001).all()
        used = answer[late : late + replay]
        envelope.check(answer, dim=arm.dim, dt=scene.dt, age_s=0.0, state=hand.state(), past=0)
        for action in used:
            # The hand, and what leads it, stay inside by the bridge's own measure, at every step.
            hand.step(action)
            for point in (hand.hand, hand.set_point):
                assert (point >= arm.box_low - 1e-3).all(), (name, params, point)
                assert (point <= arm.box_high + 1e-3).all(), (name, params, point)


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("lag_s", [0.01, 0.05, 0.12])
def test_the_hand_arrives_whatever_its_lag_and_does_not_overshoot(scene: str, lag_s: float) -> None:
    loaded = load_scene(scene)
    arm = MotionArm.of(loaded, load_robot(loaded.robot_id))
    middle = (arm.box_low + arm.box_high) / 2
    target = middle + np.array([0.15, 0.0, 0.0])
    hand = SimulatedHand(loaded, middle, lag_s, -1.0)
    motion, farthest = make_motion("move_to", {"position": target.tolist()}, arm), 0.0
    while not isinstance(answer := motion.advance(hand.state()), MotionEnd):
        for action in answer[: max(1, round(0.05 / loaded.dt))]:
            hand.step(action)
            farthest = max(farthest, float(hand.hand[0] - target[0]))
    assert answer.succeeded, answer.message
    assert np.linalg.norm(hand.hand - target) <= 0.01
    assert farthest <= 0.015


@pytest.mark.parametrize("scene", SCENES)
def test_a_hand_that_something_holds_up_is_pressed_a_bounded_way_and_given_up(scene: str) -> None:
    loaded = load_scene(scene)
    arm = MotionArm.of(loaded, load_robot(loaded.robot_id))
    start = (arm.box_low + arm.box_high) / 2
    hand = SimulatedHand(loaded, start, 0.03, float(start[2]) - 0.05)
    target = start - np.array([0.0, 0.0, 0.15])
    motion, lead = make_motion("move_to", {"position": target.tolist()}, arm), 0.0
    while not isinstance(answer := motion.advance(hand.state()), MotionEnd):
        for action in answer[: max(1, round(0.05 / loaded.dt))]:
            hand.step(action)
            lead = max(lead, float(np.linalg.norm(hand.set_point - hand.hand)))
    assert not answer.succeeded
    assert "the hand stands 10.0 cm short of the target and no longer comes nearer" in answer.message
    assert lead < 0.1


def test_kept_fingers_go_on_holding_what_they_hold() -> None:
    scene = load_scene("tabletop_panda")
    arm = MotionArm.of(scene, load_robot(scene.robot_id))
    hand = SimulatedHand(scene, (arm.box_low + arm.box_high) / 2, 0.03, -1.0)
    for opening_m, number in ((0.08, -1.0), (0.035, 1.0), (0.0, 1.0)):
        hand.opening_m = opening_m
        answer = make_motion("retract", {}, replace(arm)).advance(hand.state())
        assert not isinstance(answer, MotionEnd)
        assert set(answer[:, -1].tolist()) == {np.float32(number).item()}


@pytest.mark.parametrize(
    ("scene", "start", "target", "lag_s", "replay"),
    [
        ("tabletop_panda", (0.5823, -0.1297, 0.352), (0.2, 0.5, 0.667), 0.0868, 4),
        ("metaworld_drawer", (0.3992, 0.5239, 0.0181), (0.411, 0.35, 0.55), 0.1256, 1),
    ],
)
def test_a_hand_that_passes_from_one_line_to_the_next_does_not_leave_the_box_in_its_corner(
    scene: str, start: tuple[float, ...], target: tuple[float, ...], lag_s: float, replay: int
) -> None:
    """At the end of a line that is not the last the hand is still behind its set point."""
    loaded = load_scene(scene)
    arm = MotionArm.of(loaded, load_robot(loaded.robot_id))
    hand = SimulatedHand(loaded, np.array(start), lag_s, -1.0)
    params = {"position": list(target), "clearance_m": 0.2, "speed_m_s": 0.3949}
    motion, outside = make_motion("move_to", params, arm), -np.inf
    while not isinstance(answer := motion.advance(hand.state()), MotionEnd):
        for action in answer[:replay]:
            hand.step(action)
            beyond = [max(p - arm.box_high) for p in (hand.hand, hand.set_point)]
            below = [max(arm.box_low - p) for p in (hand.hand, hand.set_point)]
            outside = max(outside, *beyond, *below)
    assert answer.succeeded, answer.message
    assert outside <= 1e-3
