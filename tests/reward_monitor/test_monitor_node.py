"""The reward monitor as a process, on real topics; how bright the camera's image is, is how far the task is."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from reward_camera import FakeCamera, wait_for

pytestmark = pytest.mark.slow
DOMAIN = int(os.environ["ROS_DOMAIN_ID"])
SIZE = 16
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


@pytest.fixture
def camera() -> Iterator[FakeCamera]:
    camera = FakeCamera(SIZE)
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
