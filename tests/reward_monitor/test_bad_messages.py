"""The monitor as a process, and messages and requests that no honest node sends: refused by name, nothing else."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import psutil
import pytest
from openral.msg import ControlStatus
from reward_camera import BEST_EFFORT, FakeCamera, wait_for
from reward_manifest import SIZE
from sensor_msgs.msg import Image, JointState

from openral_reward_monitor.message_checks import MAX_JOINTS, MAX_SIDE

MANY = 10_000_000
MAX_GROWTH = 100e6
"""[bytes] by which the process may grow while it is sent hundreds of megabytes."""


class Stranger:
    """Sends what it likes on the topics that the monitor hears."""

    def __init__(self, camera: FakeCamera) -> None:
        node = camera.node
        self._camera = camera
        self._images = node.create_publisher(Image, "/openral/cameras/corner2/image_raw", BEST_EFFORT)
        self._joints = node.create_publisher(JointState, "/joint_states", 10)
        self._status = node.create_publisher(ControlStatus, "/openral/control_status", 10)
        publishers = (self._images, self._joints, self._status)
        wait_for(lambda: all(p.get_subscription_count() for p in publishers), "the monitor's subscriptions")

    def image(self, sec: int | None = None, nanosec: int = 0, **fields: Any) -> None:
        good = {
            "height": SIZE,
            "width": SIZE,
            "encoding": "rgb8",
            "step": 3 * SIZE,
            "data": bytes(3 * SIZE**2),
        }
        image = Image(**{**good, **fields})
        image.header.stamp.sec = self._camera.now_ns // 10**9 if sec is None else sec
        image.header.stamp.nanosec = nanosec
        self._images.publish(image)

    def joints(self, **fields: Any) -> None:
        self._joints.publish(JointState(**fields))

    def status(self, **fields: Any) -> None:
        self._status.publish(ControlStatus(**fields))


def new_readings(camera: FakeCamera, goal: str, count: int = 3) -> None:
    """Wait until so many more readings of a goal have come."""
    before = len(camera.of_goal(goal))
    wait_for(lambda: len(camera.of_goal(goal)) >= before + count, f"readings of {goal}")


@pytest.fixture
def log(tmp_path: Path):
    return lambda: (tmp_path / "log.txt").read_text()


def test_a_request_that_makes_no_sense_is_refused_and_the_monitor_lives(camera, start, log):
    process = start()
    camera.goal("aa", "open the drawer")
    new_readings(camera, "aa")
    for window_s in (math.nan, math.inf, -math.inf, 1e308):
        answer = camera.ask(window_s=window_s)
        assert not answer.ok
        assert answer.message.startswith("window_s is "), answer.message
        assert "send at most 3600 s" in answer.message
    grown = psutil.Process(process.pid).memory_info().rss
    for field in ("task", "camera"):
        answers = [
            camera.ask(**{field: "open the drawer " * (MANY // 16), "fresh": fresh}) for fresh in (0, 1)
        ]
        assert [answer.ok for answer in answers] == [False, False]
        assert all(f"{field} has " in answer.message and len(answer.message) < 100 for answer in answers)
    assert "control character" in camera.ask(task="open\x00the drawer").message
    grown = psutil.Process(process.pid).memory_info().rss - grown
    assert grown < MAX_GROWTH, f"grown by {grown / 1e6:.0f} MB"
    new_readings(camera, "aa")
    assert camera.ask(window_s=1e-300).ok
    assert process.poll() is None
    assert "Traceback" not in log()


def test_a_picture_of_the_future_does_not_stop_the_clock_of_the_window(camera, start, log):
    start()
    camera.goal("aa", "open the drawer")
    new_readings(camera, "aa")
    stranger = Stranger(camera)
    for sec, nanosec in ((2_000_000_000, 5), (2**31 - 1, 0), (2**31 - 1, 2**32 - 1), (-(2**31), 0), (-1, 0)):
        stranger.image(sec, nanosec)
    new_readings(camera, "aa")
    wait_for(lambda: stranger.image(2_000_000_000) or "ahead of the clock" in log(), "the reason in the log")
    assert not camera.ask(fresh=True).stale
    assert all(reading.header.stamp.sec < 1000 for reading in camera.readings)


def test_a_bridge_that_begins_anew_is_watched_again(camera, start):
    start()
    camera.now_ns = 500 * 10**9
    camera.goal("aa", "open the drawer")
    new_readings(camera, "aa")
    camera.now_ns = 0
    camera.goal("bb", "close the drawer")
    new_readings(camera, "bb")
    assert camera.of_goal("bb")[-1].header.stamp.sec < 400


def test_pictures_that_are_none_are_dropped_one_by_one(camera, start, log):
    process = start({"scene": "''", "cameras": "corner2", "task": "open the drawer"})
    camera.status_is_sent = False
    camera.alive = False
    stranger = Stranger(camera)
    most = 2**32 - 1
    for fields in (
        {"width": most},
        {"height": most},
        {"width": most, "height": most, "step": most},
        {"width": 0},
        {"height": 0},
        {"width": 0, "height": 0, "step": 0, "data": b""},
        {"step": 0},
        {"step": most},
        {"data": b""},
        {"data": bytes(MANY)},
        {"encoding": "x" * MANY},
        {"encoding": ""},
        {"encoding": "16UC1"},
        {"encoding": "jpeg"},
        {"height": 1, "width": MAX_SIDE + 1, "step": 3 * MAX_SIDE + 3, "data": bytes(3 * MAX_SIDE + 3)},
    ):
        stranger.image(**fields)
        answers = [camera.ask()]
        assert not answers[-1].ok
        assert len(answers[-1].message) < 300
    wait_for(lambda: "dropped a picture: camera 'corner2'" in log(), "the reason in the log")
    camera.brightness = 51
    camera.alive = True
    wait_for(lambda: camera.of_goal(""), "readings of good pictures")
    assert camera.of_goal("")[-1].progress == pytest.approx(0.2)
    assert process.poll() is None
    assert "Traceback" not in log()


def test_joints_that_are_none_hide_no_frozen_picture(camera, start, log):
    start()
    camera.brightness = 51
    camera.goal("aa", "open the drawer")
    new_readings(camera, "aa")
    stranger = Stranger(camera)
    camera.joint += 0.5
    before = len(camera.readings)
    while not any(reading.frozen for reading in camera.readings[before:]):
        assert len(camera.readings) < before + 100, "the picture is frozen, and nobody says so"
        for position in (math.nan, math.inf, -math.inf):
            stranger.joints(name=["elbow"], position=[position])
        stranger.joints(name=["elbow"], position=[0.0, 0.0])
        stranger.joints(name=["elbow", "wrist"], position=[0.0])
        stranger.joints(name=["x" * MANY], position=[0.0])
        stranger.joints(name=[], position=[])
        stranger.joints(name=[""] * (MAX_JOINTS + 1), position=[0.0] * (MAX_JOINTS + 1))
        new_readings(camera, "aa", 1)
    assert "dropped joint states" in log()
    assert "Traceback" not in log()


def test_a_status_with_words_without_end_begins_no_attempt(camera, start, log):
    process = start()
    camera.goal("aa", "open the drawer")
    new_readings(camera, "aa")
    rss = psutil.Process(process.pid).memory_info().rss
    stranger = Stranger(camera)
    for _ in range(5):
        stranger.status(active_goal="bb", instruction="open the drawer " * (MANY // 16))
        stranger.status(active_goal="f" * MANY, instruction="open the drawer")
        stranger.status(active_goal="no goal", instruction="open the drawer")
        stranger.status(active_goal="bb", instruction="open\x00the drawer")
        stranger.status(
            active_goal="aa", instruction="open the drawer", control_hz=math.nan, effective_hz=math.inf
        )
    wait_for(lambda: "dropped a control status" in log(), "the first of them")
    new_readings(camera, "aa", 5)
    assert {reading.goal_id for reading in camera.readings} == {"aa"}
    assert camera.of_goal("aa")[-1].frames_seen > 8, "its window was never begun anew"
    grown = psutil.Process(process.pid).memory_info().rss - rss
    assert grown < MAX_GROWTH, f"grown by {grown / 1e6:.0f} MB"
    assert "Traceback" not in log()
