"""What the reward monitor costs, and whether it loses pictures while its model is slow. See tests/reward_monitor."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest
import yaml
from std_srvs.srv import Trigger

from openral_rskill.registry import resolve

sys.path.insert(0, str(Path(__file__).parents[2] / "reward_monitor"))
from reward_beside_trigger import BARE
from reward_camera import FakeCamera, wait_for
from reward_manifest import EMPTY_SAFETENSORS, MANIFEST, REWARD

CORE_BAR = 0.30
READINGS = 45
"""At 3 a second."""
SLOW_S = 5.0
RATE_HZ = 30.0
PICTURES = 360
QUESTIONS = 200
PAUSE_S = 0.01
"""Before each question, so that none profits from the processor time that another was given."""
ANSWER_MS = 50.0
OVER_BARE = 2.0
"""By which factor the slowest answers may be slower than those of a service that does nothing."""
MONITOR = ("-m", "openral_reward_monitor.ros.monitor_node")

Start = Callable[..., psutil.Process]


@pytest.fixture
def start() -> Iterator[Start]:
    processes = []

    def run(scene: Path, skill: Path, program: tuple[str, ...] = MONITOR) -> psutil.Process:
        words = ("-p", f"scene:={scene}", "-p", f"skill:={skill}", "-p", "use_sim_time:=true")
        command = [sys.executable, *program, "--ros-args", *words]
        processes.append(psutil.Popen(command, env=dict(os.environ)))
        return processes[-1]

    yield run
    for process in processes:
        process.terminate()
        process.wait()


def timed(ask: Callable[[], object]) -> float:
    """Return the wall time [s] of an answer."""
    begin = time.perf_counter()
    ask()
    return time.perf_counter() - begin


def scene_of(folder: Path, size: int, rate_hz: float) -> Path:
    content = {
        "scene": {
            "id": "metaworld",
            "backend": "mock",
            "observation_height": size,
            "observation_width": size,
            "cameras": [{"name": "corner2", "rate_hz": rate_hz}],
        },
        "robot_id": "sawyer",
        "control_hz": 60,  # both rates divide it
        "action": {"representation": "joint_positions", "dim": 4, "low": [-1] * 4, "high": [1] * 4},
    }
    path = folder / "scene.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


def test_watching_costs_a_share_of_one_core(tmp_path, report, start):
    camera = FakeCamera(128, speed=1)
    try:
        camera.brightness = 100
        process = start(scene_of(tmp_path, 128, 20), resolve("mini-progress").folder)
        camera.goal("aa", "open the drawer")
        wait_for(lambda: len(camera.of_goal("aa")) > 5, "readings")
        times, begin, first = process.cpu_times(), time.monotonic(), len(camera.of_goal("aa"))
        wait_for(lambda: len(camera.of_goal("aa")) >= first + READINGS, "more readings")
        wall_s = time.monotonic() - begin
        now = process.cpu_times()
    finally:
        camera.close()
    used = (now.user + now.system - times.user - times.system) / wall_s
    rate = READINGS / wall_s
    report(
        "reward monitor with mini-progress, 20 pictures a second of 128x128",
        f"{100 * used:.0f} % of one core at {rate:.1f} readings/s",
        f"{wall_s:.0f} s of wall time",
        f"{100 * CORE_BAR:.0f} % at 3 readings/s",
    )
    assert used <= CORE_BAR


def test_no_picture_is_lost_while_a_scoring_takes_long(tmp_path, report, start):
    skill = tmp_path / "slow"
    skill.mkdir()
    (skill / "model.safetensors").write_bytes(EMPTY_SAFETENSORS)
    reward = {**REWARD, "target_fps": RATE_HZ, "frame_window_s": 2 * PICTURES / RATE_HZ}
    manifest = {**MANIFEST, "reward": reward, "policy_extras": {"delay_s": SLOW_S, "good_calls": 2}}
    (skill / "rskill.yaml").write_text(yaml.safe_dump(manifest))
    camera = FakeCamera(128, rate_hz=RATE_HZ, speed=1)
    try:
        start(scene_of(tmp_path, 128, RATE_HZ), skill)
        camera.goal("aa", "open the drawer")
        wait_for(lambda: camera.of_goal("aa"), "the first reading")
        wait_for(lambda: camera.ask().ok, "an answer")
        before, sent = camera.ask().frames_seen, camera.sent
        wait_for(lambda: camera.sent >= sent + PICTURES, "pictures")
        camera.alive = False
        sent = camera.sent - sent
        wait_for(lambda: camera.ask().stale, "the end of the stream")
        seen = camera.ask().frames_seen - before
    finally:
        camera.close()
    report(
        f"pictures taken in at {RATE_HZ:g} Hz while a scoring takes {SLOW_S:g} s",
        f"{seen} of {sent}",
        "those that were sent",
        "all",
    )
    assert abs(seen - sent) <= 1, "one may be under way when the count begins"


def test_an_answer_takes_little_longer_than_one_of_a_service_that_does_nothing(tmp_path, report, start):
    camera = FakeCamera(128, rate_hz=RATE_HZ, speed=1)
    try:
        camera.brightness = 100
        program = (str(Path(__file__).with_name("reward_beside_trigger.py")),)
        start(scene_of(tmp_path, 128, RATE_HZ), resolve("mini-progress").folder, program)
        camera.goal("aa", "open the drawer")
        wait_for(lambda: len(camera.of_goal("aa")) > 5, "readings")
        bare = camera.node.create_client(Trigger, BARE)
        asked = {"bare": lambda: camera.call(bare, Trigger.Request()), "query": camera.ask}
        waits: dict[str, list[float]] = {name: [] for name in asked}
        begun = len(camera.of_goal("aa"))
        for _ in range(QUESTIONS):
            for name, ask in asked.items():
                time.sleep(PAUSE_S)
                waits[name].append(timed(ask))
        scored = len(camera.of_goal("aa")) - begun
    finally:
        camera.close()
    found = {name: 1e3 * np.percentile(times, [50, 99]) for name, times in waits.items()}
    told = {name: f"median {ms[0]:.1f} ms, 99 % within {ms[1]:.1f} ms" for name, ms in found.items()}
    report(
        f"answers of the reward monitor at {RATE_HZ:g} pictures/s and 3 scorings/s, n = {QUESTIONS}",
        f"{told['query']} ({found['query'][1] / found['bare'][1]:.1f} times as long)",
        f"std_srvs/Trigger in the same process: {told['bare']}",
        f"99 % within {ANSWER_MS:g} ms; on a busy machine, {OVER_BARE:g} times as long",
    )
    assert scored > 0, "the figure is one of answers while scoring goes on"
    assert found["query"][1] <= max(ANSWER_MS, OVER_BARE * found["bare"][1])
