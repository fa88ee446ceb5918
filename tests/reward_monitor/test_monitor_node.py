"""The reward monitor as a process, on real topics; how bright the camera's image is, is how far the task is."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rclpy
import yaml
from builtin_interfaces.msg import Time
from openral.msg import ControlStatus, TaskProgress
from openral.srv import QueryTaskProgress
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Image

pytestmark = pytest.mark.slow
DOMAIN = int(os.environ["ROS_DOMAIN_ID"])
SIZE = 16
PERIOD_NS = 50_000_000
SPEED = 4
BEST_EFFORT = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
SERVICE = "/openral/perception/query_task_progress"
SCENE = {
    "scene": {
        "id": "metaworld",
        "backend": "mock",
        "observation_height": SIZE,
        "observation_width": SIZE,
        "cameras": [{"name": "corner2", "rate_hz": 20}],
    },
    "robot_id": "sawyer",
    "control_hz": 80,
    "action": {"representation": "joint_positions", "dim": 4, "low": [-1] * 4, "high": [1] * 4},
}


class FakeCamera:
    """Publishes clock, status and images at 20 Hz of a clock that runs four times as fast as the wall's."""

    def __init__(self) -> None:
        self.brightness = 0
        self.size = SIZE
        self.status = ControlStatus()
        self.readings: list[Any] = []
        self.now_ns = 0
        self.alive = True
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=DOMAIN)
        self.node = rclpy.create_node("fake_camera", context=self._context)
        self._clock = self.node.create_publisher(Clock, "/clock", BEST_EFFORT)
        self._status = self.node.create_publisher(ControlStatus, "/openral/control_status", 10)
        self._image = self.node.create_publisher(Image, "/openral/cameras/corner2/image_raw", BEST_EFFORT)
        self.node.create_subscription(TaskProgress, "/openral/progress", self.readings.append, 10)
        self._client = self.node.create_client(QueryTaskProgress, SERVICE)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=body, daemon=True) for body in (self._spin, self._run)]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(5)
        self.node.destroy_node()
        rclpy.shutdown(context=self._context)

    def goal(self, goal_id: str, instruction: str) -> None:
        self.status = ControlStatus(active_goal=goal_id, instruction=instruction)
        self._status.publish(self.status)

    def ask(self, window_s: float = 0.0, task: str = "") -> Any:
        assert self._client.wait_for_service(timeout_sec=90)
        future = self._client.call_async(QueryTaskProgress.Request(window_s=window_s, task=task))
        wait_for(future.done, "an answer")
        return future.result()

    def of_goal(self, goal_id: str) -> list[Any]:
        return [reading for reading in list(self.readings) if reading.goal_id == goal_id]

    def _spin(self) -> None:
        while not self._stop.is_set():
            self._executor.spin_once(timeout_sec=0.1)

    def _run(self) -> None:
        while not self._stop.wait(PERIOD_NS * 1e-9 / SPEED):
            if self.alive:
                self._publish()

    def _publish(self) -> None:
        self.now_ns += PERIOD_NS
        stamp = Time(sec=self.now_ns // 10**9, nanosec=self.now_ns % 10**9)
        image = Image(height=self.size, width=self.size, encoding="rgb8", step=3 * self.size)
        image.data = np.full(3 * self.size**2, self.brightness, np.uint8).tobytes()
        image.header.stamp = stamp
        self._clock.publish(Clock(clock=stamp))
        self._status.publish(self.status)
        self._image.publish(image)


def wait_for(condition: Any, what: str, timeout_s: float = 20) -> None:
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.01)


@pytest.fixture
def camera() -> Iterator[FakeCamera]:
    camera = FakeCamera()
    yield camera
    camera.close()


@pytest.fixture
def start(make_reward, tmp_path: Path) -> Iterator:
    processes = []

    def run(parameters: dict[str, Any] | None = None, **script: Any) -> subprocess.Popen[str]:
        scene = tmp_path / "scene.yaml"
        scene.write_text(yaml.safe_dump(SCENE))
        values = {
            "skill": make_reward(**script).folder,
            "scene": scene,
            "use_sim_time": "true",
            **(parameters or {}),
        }
        arguments = [part for name, value in values.items() for part in ("-p", f"{name}:={value}")]
        process = subprocess.Popen(
            [sys.executable, "-m", "openral_reward_monitor.monitor_node", "--ros-args", *arguments],
            env={**os.environ, "ROS_DOMAIN_ID": str(DOMAIN), "OMP_NUM_THREADS": "1"},
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        return process

    yield run
    for process in processes:
        process.kill()
        print(process.communicate()[1])


def test_each_attempt_has_its_own_window(camera, start):
    process = start()
    assert not camera.ask().ok
    assert "no attempt" in camera.ask().message
    camera.goal("aa", "open the drawer")
    camera.brightness = 51
    wait_for(
        lambda: any(reading.progress == pytest.approx(0.2) for reading in camera.of_goal("aa")), "a reading"
    )
    first = camera.of_goal("aa")[0]
    assert (first.task, first.frames_scored) == ("open the drawer", 2)
    wait_for(lambda: len(camera.of_goal("aa")) > 8, "more readings")
    stamps = [
        reading.header.stamp.sec + reading.header.stamp.nanosec * 1e-9 for reading in camera.of_goal("aa")
    ]
    assert np.diff(stamps).min() >= 1 / 3 - 1e-6
    answer = camera.ask()
    assert answer.ok, answer.message
    assert answer.frames_scored == 8 < answer.frames_seen
    assert not answer.stale
    camera.brightness = 255
    camera.goal("bb", "close the drawer")
    wait_for(lambda: camera.of_goal("bb"), "a reading of the new attempt")
    assert camera.of_goal("bb")[0].frames_seen <= 4
    wait_for(lambda: camera.of_goal("bb")[-1].succeeded, "success")
    answer = camera.ask(window_s=1.0)
    assert answer.frames_seen <= 5
    assert (answer.success_now, answer.succeeded, answer.stalled) == (1.0, True, False)
    process.terminate()
    process.communicate(timeout=90)
    assert process.returncode == 0


def test_flat_progress_is_called_stalled_and_other_words_are_scored_apart(camera, start):
    start()
    camera.brightness = 102
    camera.goal("aa", "open the drawer")
    wait_for(lambda: any(reading.stalled for reading in camera.of_goal("aa")), "a stall")
    assert camera.of_goal("aa")[0].stalled is False
    assert camera.of_goal("aa")[-1].progress_trend == pytest.approx(0.0, abs=1e-3)
    other = camera.ask(task="close the drawer")
    assert other.ok
    assert other.progress_now == pytest.approx(0.4)


def test_nan_is_never_a_number(camera, start):
    start(behaviour="nan", good_calls=3)
    camera.goal("aa", "open the drawer")
    wait_for(lambda: len(camera.of_goal("aa")) == 2, "the good readings")
    answers = [camera.ask() for _ in range(3)]
    assert [answer.ok for answer in answers] == [False] * 3
    assert "not finite" in answers[-1].message
    assert all(np.isfinite(reading.progress) for reading in camera.readings)
    assert len(camera.of_goal("aa")) == 2


def test_while_the_model_hangs_the_service_answers_and_cancel_of_the_process_works(camera, start):
    process = start({"answer_timeout_s": 1.0}, behaviour="hang", good_calls=2)
    camera.goal("aa", "open the drawer")
    wait_for(lambda: camera.of_goal("aa"), "the good reading")
    waited = camera.ask()
    assert not waited.ok
    assert "not answered" in waited.message
    refused = camera.ask()
    assert "restart the monitor" in refused.message
    process.terminate()
    process.communicate(timeout=90)
    assert process.returncode == 0


def test_dead_bridge_makes_the_answer_stale(camera, start):
    start({"stale_after_s": 0.5})
    camera.goal("aa", "open the drawer")
    wait_for(lambda: camera.of_goal("aa"), "a reading")
    camera.alive = False
    wait_for(lambda: camera.ask().stale, "staleness")
    answer = camera.ask()
    assert answer.ok
    assert answer.age_s > 0.5
    assert "old" in answer.message


def test_camera_of_another_size_is_refused_with_both_sizes(camera, start):
    camera.size = 24
    start()
    camera.goal("aa", "open the drawer")
    wait_for(lambda: "24x24" in camera.ask().message, "the refusal")
    assert f"{SIZE}x{SIZE}" in camera.ask().message
    assert not camera.readings


def test_unknown_camera_ends_the_process_with_the_names_there_are(start):
    process = start({"camera": "wrist"})
    log = process.communicate(timeout=30)[1]
    assert process.returncode == 1
    assert "no camera 'wrist'; it has corner2" in log
