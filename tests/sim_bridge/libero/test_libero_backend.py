"""What a backend promises, kept over a process and a socket."""

from __future__ import annotations

import os
import signal
import time
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from libero_parts import TASKS

from openral_core.errors import NotFoundError, SidecarError, SimulationError
from openral_sidecar.errors import SidecarDown
from openral_sim_bridge.backends.remote_sim import backend as module
from openral_sim_bridge.backends.remote_sim.backend import ArmBackend
from openral_sim_bridge.coordinate_frames import LinkFrames

EYES = ["agentview", "robot0_eye_in_hand"]


def play(backend: ArmBackend, seed: int) -> bytes:
    rng = np.random.default_rng(seed)
    backend.reset([TASKS[0], TASKS[1]], [3, 9])
    for _ in range(5):
        result = backend.step(rng.uniform(-1, 1, (2, 7)))
    images = backend.render(EYES)
    return b"".join(
        [
            *(state.joint_positions.tobytes() for state in result.states),
            *(images[eye].tobytes() for eye in EYES),
        ]
    )


def test_same_states_and_actions_give_the_same_bytes(backend):
    first = play(backend, 1)
    assert play(backend, 2) != first
    assert play(backend, 1) == first


def test_states_success_and_horizon(backend):
    states = backend.reset([TASKS[0], TASKS[1]], [0, 10])
    assert [state.stamp_s for state in states] == [0.0, 0.0]
    assert states[1].joint_positions[0] == pytest.approx(0.01)
    assert states[0].joint_names[6:] == (
        "panda_joint7",
        "panda_gripper",
        "panda_finger_joint1",
        "panda_finger_joint2",
    )
    assert states[0].gripper_opening == pytest.approx(0.08)
    np.testing.assert_allclose(states[0].joint_positions[7:], [0.08, 0.04, -0.04])
    forward, still = np.array([1.0, 0, 0, 0, 0, 0, 1.0]), backend.hold_action(None)
    results = [backend.step(np.stack([forward, still])) for _ in range(30)]
    successes = np.array([result.success[0] for result in results])
    assert successes.argmax(axis=0).tolist() == [9, 19], "task k wants k + 1 tenths, a step is a hundredth"
    assert not any(result.success[1].any() for result in results)
    rewards = np.array([result.reward for result in results])
    np.testing.assert_allclose(rewards[:, 0, 0], 0.01 * np.arange(1, 31))
    np.testing.assert_array_equal(rewards[..., 0], rewards[..., 1])
    assert [result.done.tolist() for result in results[-2:]] == [[False, False], [True, True]]
    assert results[-1].states[0].stamp_s == pytest.approx(30 / 20)
    assert results[-1].states[0].gripper_opening == pytest.approx(0.0)
    assert results[-1].states[1].gripper_opening == pytest.approx(0.08)
    alone = backend.step(still[None], [1])
    assert [len(alone.states), *alone.success.shape, *alone.reward.shape] == [1, 1, 2, 1, 2]
    assert alone.states[0].stamp_s == pytest.approx(31 / 20)
    [again] = backend.reset([TASKS[0]], [0], [0])
    assert (again.stamp_s, again.gripper_opening) == (0.0, pytest.approx(0.08))
    assert backend.joint_positions(1)["panda_joint1"] == pytest.approx(0.01), "world 1 was left alone"


def test_many_images_travel_in_parts(backend, monkeypatch):
    backend.reset(list(TASKS), [0, 40])
    whole = backend.render(EYES)
    assert {eye: (images.shape, images.dtype) for eye, images in whole.items()} == dict.fromkeys(
        EYES, ((2, 32, 48, 3), np.uint8)
    )
    assert not np.array_equal(whole["agentview"][0], whole["agentview"][1])
    monkeypatch.setattr(module, "IMAGE_BYTES", 1)
    for eye, images in backend.render(EYES).items():
        np.testing.assert_array_equal(images, whole[eye])
    np.testing.assert_array_equal(backend.render(EYES, [1])["agentview"][0], whole["agentview"][1])


def test_a_snapshot_brings_the_picture_back(backend):
    play(backend, 1)
    snapshot, picture = backend.snapshot(1), backend.render(EYES, [1])
    play(backend, 2)
    backend.restore(snapshot, 1)
    for eye, images in backend.render(EYES, [1]).items():
        np.testing.assert_array_equal(images, picture[eye])
    with pytest.raises(SimulationError, match="this world has"):
        backend.restore(type(snapshot)(np.zeros(3), snapshot.mocap_pos))


def test_links_follow_from_urdf_and_joints(backend, tmp_path):
    [state, _] = backend.reset(list(TASKS), [7, 7])
    robot = backend.robot("franka_panda", "panda_link0", tmp_path)
    assert (robot.base.parent, robot.base.child) == ("world", "panda_base")
    links = {link.get("name") for link in ET.fromstring(robot.urdf).findall("link")}
    assert {"panda_link7", "panda_hand", "panda_leftfinger", "panda_hand_tcp"} <= links
    assert not any("robot0" in name or "gripper0" in name for name in links)
    assert "0.3" not in {sphere.get("radius") for sphere in ET.fromstring(robot.urdf).iter("sphere")}, (
        "collision shapes"
    )
    frames = LinkFrames(robot)
    assert set(frames.joint_names) == set(backend.joint_positions())
    every = {frame.child: frame for frame in [*frames.fixed(), *frames.moving(backend.joint_positions())]}
    position, rotation, name = np.zeros(3), np.eye(3), "panda_hand_tcp"
    while name != "world":
        frame = every[name]
        turn = matrix(frame.quaternion)
        position, rotation, name = frame.position + turn @ position, turn @ rotation, frame.parent
    np.testing.assert_allclose(position, state.ee_position, atol=1e-6)
    np.testing.assert_allclose(rotation, matrix(state.ee_quaternion), atol=1e-6)


def matrix(quaternion):
    x, y, z, w = quaternion
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * skew + 2 * skew @ skew


def test_cameras_hang_on_the_world_or_on_the_hand(backend):
    outside, hand = (backend.camera(eye) for eye in EYES)
    assert (outside.parent, outside.width, outside.height, outside.fovy_deg) == ("world", 48, 32, 45.0)
    np.testing.assert_allclose(outside.position, [0.4, 0, 2.3])
    np.testing.assert_allclose(outside.rotation[:, 2], [-(0.5**0.5), 0, -(0.5**0.5)], atol=1e-6)
    assert hand.parent == "panda_hand"
    np.testing.assert_allclose(hand.position, [0.05, 0, 0])
    np.testing.assert_allclose(hand.rotation[:, 2], [0, 0, 1], atol=1e-5)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda b: b.reset(["libero_goal/three"], [0], [0]),
            NotFoundError,
            "has libero_goal/one, libero_goal/two",
        ),
        (lambda b: b.reset([TASKS[0]], [50], [1]), SimulationError, "at most 49"),
        (lambda b: b.reset([TASKS[0]], [0], [2]), SimulationError, "there is no world 2; there are 2"),
        (lambda b: b.reset([TASKS[0]], [0]), SimulationError, "2 worlds, 1 tasks"),
        (lambda b: b.step(np.zeros((2, 4))), SimulationError, r"needed \(2, 7\)"),
        (
            lambda b: b.render(["nose"]),
            NotFoundError,
            "no camera 'nose'; it has agentview, robot0_eye_in_hand",
        ),
        (lambda b: b.camera("nose"), NotFoundError, "no camera 'nose'"),
        (lambda b: b.robot("x", "right_arm_base_link"), SimulationError, "see base_frame in robot.yaml"),
    ],
)
def test_refusals_arrive_as_they_were_raised(backend, call, error, text):
    with pytest.raises(error, match=text):
        call(backend)


def test_absolute_actions_hold_the_present_pose(opened):
    backend = opened(representation="cartesian_pose")
    [state] = backend.reset([TASKS[0]], [20])
    for _ in range(3):
        result = backend.step(backend.hold_action(None)[None])
    np.testing.assert_allclose(result.states[0].joint_positions, state.joint_positions)
    closing = backend.hold_action(np.array([0.0] * 6 + [1.0]))
    assert closing[6] == 1.0
    with pytest.raises(
        SimulationError, match="delta_ee_6d_plus_gripper or cartesian_pose, not joint_positions"
    ):
        opened(representation="joint_positions")


def step_as_soon_as_possible(backend):
    until = time.monotonic() + 120
    while time.monotonic() < until:
        try:
            return backend.step(np.zeros((2, 7)))
        except SidecarDown:
            time.sleep(0.05)
    raise AssertionError("the server did not come back")


@pytest.mark.slow
def test_a_world_that_was_lost_is_not_stepped_on(opened):
    """A new process has new worlds: going on in them as if nothing had happened would be a wrong episode."""
    backend = opened(num_envs=2)
    os.kill(backend._link.pid, signal.SIGKILL)
    with pytest.raises(SimulationError, match="its worlds were lost; reset all of them"):
        step_as_soon_as_possible(backend)
    backend.reset([TASKS[0]], [0], [1])
    with pytest.raises(SimulationError, match="reset all of them"):
        backend.step(np.zeros((2, 7)))
    backend.reset(list(TASKS), [0, 0])
    assert backend.step(np.zeros((2, 7))).states[0].stamp_s == pytest.approx(0.05)


@pytest.mark.slow
def test_a_server_that_cannot_build_its_worlds_says_why(opened, monkeypatch, tmp_path):
    from openral_sim_bridge.backends.libero import backend as module

    monkeypatch.setattr(module, "ensure_assets", lambda progress: tmp_path / "nowhere")
    with pytest.raises(SidecarError, match=r"no assets at .*nowhere"):
        opened()
    with pytest.raises(NotFoundError, match="use one of published"):
        opened(render_profile="cinema")
