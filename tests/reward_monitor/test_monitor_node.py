"""The reward monitor as a process, on real topics; how bright the camera's image is, is how far the task is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from reward_camera import wait_for
from reward_manifest import REWARD, SIZE

from openral_core.guarded_callbacks import EXIT_UNFIT


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
    answer = camera.ask(fresh=True)
    assert answer.ok, answer.message
    assert answer.camera == "corner2"
    assert answer.frames_scored == 8 < answer.frames_seen
    assert not answer.stale
    camera.brightness = 255
    camera.goal("bb", "close the drawer")
    wait_for(lambda: camera.of_goal("bb"), "a reading of the new attempt")
    assert camera.of_goal("bb")[0].frames_seen <= 4
    wait_for(lambda: camera.of_goal("bb")[-1].succeeded, "success")
    answer = camera.ask(window_s=1.0, fresh=True)
    assert answer.frames_seen <= 5
    assert (answer.success_now, answer.succeeded, answer.stalled) == (1.0, True, False)
    process.terminate()
    process.wait(90)
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
    answers = [camera.ask(fresh=True) for _ in range(3)]
    assert [answer.ok for answer in answers] == [False] * 3
    assert "not finite" in answers[-1].message
    assert np.isfinite(camera.ask().progress_now)
    assert all(np.isfinite(reading.progress) for reading in camera.readings)
    assert len(camera.of_goal("aa")) == 2


def test_while_the_model_hangs_the_service_answers_and_cancel_of_the_process_works(camera, start):
    process = start({"answer_timeout_s": 1.0}, behaviour="hang", good_calls=2)
    camera.goal("aa", "open the drawer")
    wait_for(lambda: camera.of_goal("aa"), "the good reading")
    newest = camera.ask()
    assert newest.ok, "the newest scores are there, however long the next ones take"
    waited = camera.ask(fresh=True)
    assert not waited.ok
    assert "not answered" in waited.message
    refused = camera.ask(task="close the drawer")
    assert "restart the monitor" in refused.message
    wait_for(lambda: camera.ask().stale, "an answer that says how old it is")
    process.terminate()
    process.wait(90)
    assert process.returncode == 0


def test_intake_goes_on_while_the_model_scores(camera, make_reward, start):
    reward = {**REWARD, "target_fps": 20.0, "frame_window_s": 30.0}
    start(manifest={"reward": reward}, behaviour="hang", good_calls=2)
    camera.goal("aa", "open the drawer")
    wait_for(lambda: camera.of_goal("aa"), "the good reading")
    camera.alive = False
    wait_for(lambda: camera.ask().stale, "the end of the stream")
    seen = camera.ask().frames_seen
    for number in range(1, 31):  # far more than the queue of the subscription holds
        camera.publish()
        wait_for(lambda number=number: camera.ask().frames_seen == seen + number, f"frame {number}")
    assert camera.ask().ok


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


def test_unknown_camera_ends_the_process_with_the_names_there_are(start, tmp_path):
    process = start({"cameras": "corner2,head"})
    assert process.wait(90) == EXIT_UNFIT
    assert "no camera 'head'; it has corner2, wrist" in (tmp_path / "log.txt").read_text()


def test_another_camera_takes_over_when_one_dies_or_freezes_or_is_covered(camera, start):
    start({"cameras": "corner2,wrist", "stale_after_s": 1.0})
    camera.names = ["corner2", "wrist"]
    camera.brightness = 51
    camera.goal("aa", "open the drawer")
    wait_for(lambda: camera.of_goal("aa"), "a reading")
    assert camera.of_goal("aa")[-1].camera == "corner2"
    camera.names = ["wrist"]
    wait_for(lambda: camera.of_goal("aa")[-1].camera == "wrist", "the other camera's readings")
    camera.names = ["corner2", "wrist"]
    wait_for(lambda: camera.of_goal("aa")[-1].camera == "corner2", "the first camera again")
    assert camera.ask(camera="wrist").camera == "wrist"
    assert "camera 'head' is not watched; there is corner2, wrist" in camera.ask(camera="head").message


def test_a_bad_picture_is_told_and_never_a_success_or_a_stall(camera, start):
    start(behaviour="one")
    camera.brightness = 51
    camera.goal("aa", "open the drawer")
    wait_for(lambda: camera.of_goal("aa") and camera.of_goal("aa")[-1].succeeded, "a success")
    camera.joint += 0.5
    wait_for(lambda: camera.of_goal("aa")[-1].frozen, "a frozen picture")
    camera.brightness = 2
    wait_for(lambda: camera.of_goal("aa")[-1].dark, "a dark picture")
    bad = [reading for reading in camera.of_goal("aa") if reading.frozen or reading.dark]
    assert all(reading.abstained and reading.remark for reading in bad)
    assert not any(reading.succeeded or reading.stalled for reading in bad)
    answer = camera.ask()
    assert answer.abstained
    assert "too dark" in answer.message


def test_before_any_attempt_given_words_are_answered_from_the_newest_picture(camera, start):
    start()
    camera.brightness = 51
    wait_for(lambda: camera.ask(task="open the drawer").ok, "a picture")
    assert camera.ask(task="open the drawer").progress_now == pytest.approx(0.2)
    camera.alive = False
    wait_for(lambda: camera.ask(task="open the drawer").stale, "the end of the stream")
    before = camera.ask(task="open the drawer").frames_seen
    camera.brightness = 255
    for _ in range(6):  # more than one period of the rate at which pictures are kept
        camera.publish()
    answers = [camera.ask(task="open the drawer")]
    wait_for(
        lambda: answers.append(camera.ask(task="open the drawer")) or answers[-1].frames_seen > before,
        "the new pictures",
    )
    assert answers[-1].progress_now == 1.0
    assert answers[-1].succeeded
    assert not camera.readings, "nobody asked for a watch"


def test_cameras_of_other_encodings_are_read_or_refused_by_name(camera, start):
    start({"scene": "''", "cameras": "corner2", "task": "open the drawer"})
    camera.status_is_sent = False
    for brightness, encoding in ((51, "bgr8"), (102, "bgra8"), (153, "mono8"), (204, "rgba8")):
        camera.brightness, camera.encoding = brightness, encoding
        wanted = pytest.approx(brightness / 255, abs=1e-3)
        wait_for(
            lambda wanted=wanted: camera.of_goal("") and camera.of_goal("")[-1].progress == wanted, encoding
        )
    camera.encoding = "16UC1"
    wait_for(lambda: "16UC1" in camera.ask().message, "the refusal")
    assert "publish rgb8 or bgr8 or rgba8 or bgra8 or mono8" in camera.ask().message


def test_the_launch_file_alone_watches_another_robots_topic(camera, make_reward):
    words = {
        "scene": "",
        "skill": make_reward().folder,
        "cameras": "front",
        "image_topic": "/openral/cameras/wrist/image_raw",
        "task": "open the drawer",
        "use_sim_time": "false",
    }
    command = [str(Path(sys.executable).parent / "ros2"), "launch", "openral", "reward_monitor.launch.py"]
    process = subprocess.Popen(
        [*command, *(f"{name}:={value}" for name, value in words.items())],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        camera.names, camera.is_bare, camera.encoding, camera.brightness = ["wrist"], True, "bgr8", 51
        wait_for(lambda: camera.of_goal(""), "readings")
        assert camera.of_goal("")[-1].camera == "front"
        assert camera.of_goal("")[-1].progress == pytest.approx(0.2)
        answer = camera.ask(fresh=True)
        assert answer.ok, answer.message
        assert not answer.stale
        assert answer.progress_now == pytest.approx(0.2)
    finally:
        process.send_signal(signal.SIGINT)
        print(process.communicate(timeout=90)[0])
    assert process.returncode == 0


def test_the_launch_file_refuses_a_compressed_topic() -> None:
    words = ("scene:=", "cameras:=front", "image_topic:=/camera/image_raw/compressed")
    command = [str(Path(sys.executable).parent / "ros2"), "launch", "openral", "reward_monitor.launch.py"]
    done = subprocess.run(
        [*command, *words],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 1
    assert "the monitor takes sensor_msgs/Image; republish it as raw" in done.stdout + done.stderr


def test_without_scene_and_bridge_any_camera_is_watched_for_standing_words(camera, start):
    start({"scene": "''", "cameras": "corner2", "task": "open the drawer"})
    camera.status_is_sent = False
    camera.brightness = 102
    wait_for(lambda: camera.of_goal(""), "readings without a goal")
    reading = camera.of_goal("")[-1]
    assert (reading.task, reading.progress) == ("open the drawer", pytest.approx(0.4))
    assert camera.ask(task="close the drawer").progress_now == pytest.approx(0.4)
