"""Rates and times of a whole deployment, beside the same policy and world in one process."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from system_files import load_truth, write_scene
from system_operator import Operator
from system_stack import Stack

from openral_control.catch_up import CatchUp
from openral_core.adapters.action_adapter import ActionAdapter
from openral_core.adapters.observation_adapter import ObservationAdapter
from openral_core.scene import load_scene
from openral_policy_nodes.families.factory import load_policy
from openral_rskill.registry import resolve
from openral_sim_bridge.backends.factory import make_backend
from openral_sim_bridge.rollout import EpisodeJob, roll_out

TASK, WORDS, SLUG = "drawer-open-v3", "open the drawer", "mini_metaworld"
EPISODES = range(1000, 1006)
STEPS = 160
WINDOW = 4
"""Control steps between two observations, in one process and in lockstep."""
RATE_BAR, MISSION_BAR, START_BAR = 0.95, 1.20, 3.0
IMPORTS = (
    "import torch, safetensors, tokenizers",
    "import mujoco, metaworld",
    "import torch, cv2",
    "import yaml",
)
"""What the four nodes cannot do without."""


class OneProcess:
    """The skill in its scene without any wires, timed from observation to observation."""

    def __init__(self) -> None:
        torch.set_num_threads(1)
        package, scene = resolve("mini-metaworld"), load_scene("metaworld_drawer")
        self.control_hz, self._scene = scene.control_hz, scene
        self._manifest = package.manifest
        self._observe, self._act = (
            ObservationAdapter(package.manifest, scene),
            ActionAdapter(package.manifest, scene),
        )
        self._policy, self._backend = load_policy(package), make_backend(scene)

    def run(self, init_id: int) -> np.ndarray:
        """Run an episode to its success; return the wall times [s] of its observations."""
        seen: list[float] = []
        roll_out(
            self._backend,
            self._policy,
            self._observe,
            self._act,
            [EpisodeJob(TASK, init_id, WORDS)],
            catch_up=CatchUp(self._scene.action),
            cameras=[camera.name for camera in self._observe.cameras],
            n_action_steps=self._manifest.replay_steps,
            horizon=STEPS,
            watch=lambda number, observation: seen.append(time.monotonic()),
        )
        return np.array(seen)


@pytest.fixture(scope="module")
def one_process() -> OneProcess:
    alone = OneProcess()
    alone.run(EPISODES[0])  # the first episode pays for allocation
    return alone


def launch(folder: Path, *words: str) -> Stack:
    """A deployment of the drawer's scene that waits for goals."""
    scene = write_scene(folder, reward_skill=None, mission=None)
    arguments = (f"scene:={scene}", f"run_dir:={folder / 'run'}", *words)
    return Stack(folder, "ros2", "launch", "openral", "deploy_sim.launch.py", *arguments)


def test_a_mission_costs_little_more_than_in_one_process(tmp_path, report, one_process):
    alone = {}
    with launch(tmp_path, "mode:=lockstep") as stack, Operator(stack) as operator:
        operator.until_active(SLUG)
        operator.run_skill(SLUG, WORDS, 0.5)()
        for init_id in EPISODES:  # in turns, so that both meet the same load of the machine
            alone[init_id] = one_process.run(init_id)
            operator.reset(TASK, init_id)
            operator.run_skill(SLUG, WORDS, STEPS / one_process.control_hz)()
        stack.interrupt()
        assert stack.wait() == 0
    truth = load_truth(tmp_path / "run")
    here = there = 0.0
    episodes = np.flatnonzero(np.isin(truth["reset_init"], EPISODES))[-len(EPISODES) :]
    for start_s, init_id in zip(truth["reset_stamp_s"][episodes], EPISODES, strict=True):
        windows = len(alone[init_id]) - 1
        first = int(np.searchsorted(truth["stamp_s"], start_s + 1e-6))
        assert not truth["held"][first : first + WINDOW * windows].any()
        there += alone[init_id][windows] - alone[init_id][0]
        here += truth["wall_s"][first + WINDOW * windows] - truth["wall_s"][first]
    count = sum(len(times) - 1 for times in alone.values())
    report(
        f"{len(EPISODES)} missions in lockstep, {WINDOW * count} control steps",
        f"{here:.2f} s, {1e3 * here / count:.1f} ms a window of {WINDOW} steps",
        f"one process {there:.2f} s, {1e3 * there / count:.1f} ms a window",
        f"+{100 * (MISSION_BAR - 1):.0f} % (now {100 * (here / there - 1):+.0f} %)",
    )
    assert here <= MISSION_BAR * there


def test_control_rate_in_real_time(tmp_path, report, one_process):
    with launch(tmp_path) as stack, Operator(stack) as operator:
        operator.until_active(SLUG)
        operator.run_skill(SLUG, WORDS, 6.0)()
        stack.interrupt()
        assert stack.wait() == 0
    truth = load_truth(tmp_path / "run")
    running = truth["wall_s"][truth["goal"] > 0]
    rate = (len(running) - 1) / (running[-1] - running[0])
    times = one_process.run(EPISODES[0])
    possible = WINDOW * (len(times) - 1) / (times[-1] - times[0])
    wanted = one_process.control_hz
    report(
        "control rate, real time, one camera 128x128, policy running",
        f"{rate:.1f} Hz, {100 * rate / wanted:.1f} % of {wanted:g} Hz",
        f"one process, unpaced {possible:.0f} Hz",
        f"{100 * RATE_BAR:.0f} %",
    )
    assert rate >= RATE_BAR * wanted


def test_start_until_the_first_chunk(tmp_path, report):
    begin = time.monotonic()
    processes = [subprocess.Popen([sys.executable, "-c", code]) for code in IMPORTS]
    assert [process.wait() for process in processes] == [0] * len(IMPORTS)
    imports_s = time.monotonic() - begin
    begin = time.monotonic()
    words = ("--config", "metaworld_drawer", "--run-dir", "run", "--no-video")
    with Stack(tmp_path, "openral", "deploy", "sim", *words) as stack, Operator(stack) as operator:
        operator.until_moving()
        start_s = time.monotonic() - begin
        stack.interrupt()
        stack.wait()
    report(
        "start of `openral deploy sim` until the first chunk is executed",
        f"{start_s:.1f} s",
        f"importing the libraries of four nodes at once {imports_s:.1f} s",
        f"{START_BAR:g} x the imports (now {start_s / imports_s:.1f})",
    )
    assert start_s <= START_BAR * imports_s
