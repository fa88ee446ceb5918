"""The reward monitor with a Robometer skill: its node, its sidecar, and a deployment that asks for it.

The checkpoint is tiny (random weights, proves plumbing only), so the scores mean nothing; that they come, does.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import system_stack
import yaml
from reward_camera import FakeCamera, wait_for
from system_stack import Stack

from openral_sidecar.server_announcement import announcements

ROOT = Path(__file__).parents[3]
SIZE = 224
"""[px] The least that the manifest asks for."""
PATIENCE_S = 600.0
RESTART_S = 180.0
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


def servers(folder: Path) -> list[int]:
    """Process ids of the servers of a checkpoint."""
    return [found.pid for found in announcements() if found.identity.model == str(folder)]


@pytest.fixture
def monitor(packed_robometer: Path, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    scene = tmp_path / "scene.yaml"
    scene.write_text(yaml.safe_dump(SCENE))
    values = {"skill": packed_robometer, "scene": scene, "use_sim_time": "true", "answer_timeout_s": "60.0"}
    arguments = [part for name, value in values.items() for part in ("-p", f"{name}:={value}")]
    with (tmp_path / "log").open("w+") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "openral_reward_monitor.ros.monitor_node", "--ros-args", *arguments],
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            stderr=log,
            text=True,
        )
        yield process
        process.kill()
        process.wait()
        log.seek(0)
        print(log.read())


def test_the_service_answers_while_scoring_goes_on_and_after_the_sidecars_death(
    monitor: subprocess.Popen[str], packed_robometer: Path
) -> None:
    camera = FakeCamera(SIZE, speed=1, patience_s=PATIENCE_S)
    try:
        assert "no attempt" in camera.ask().message
        camera.goal("aa", "open the drawer")
        wait_for(lambda: len(camera.of_goal("aa")) >= 2, "readings", PATIENCE_S)
        seen = len(camera.of_goal("aa"))
        for task in ("", "close the drawer", ""):
            answer = camera.ask(task=task, fresh=True)
            assert answer.ok, answer.message
            assert 1 <= answer.frames_scored <= 8
            assert np.isfinite([answer.progress_now, answer.success_now, answer.progress_trend]).all()
            assert 0.0 < answer.progress_now < 1.0
        wait_for(lambda: len(camera.of_goal("aa")) > seen, "readings beside the answers", PATIENCE_S)

        (pid,) = servers(packed_robometer)
        os.kill(pid, signal.SIGKILL)
        answers = []

        def recovered() -> bool:
            answers.append(camera.ask(fresh=True))
            return bool(answers[-1].ok)

        wait_for(recovered, "an answer of the restarted sidecar", RESTART_S)
        assert all(answer.message for answer in answers if not answer.ok)
        assert servers(packed_robometer) not in ([], [pid])
        seen = len(camera.of_goal("aa"))
        wait_for(lambda: len(camera.of_goal("aa")) > seen, "readings after the restart", PATIENCE_S)

        monitor.terminate()
        monitor.wait(timeout=120)
        assert monitor.returncode == 0
        wait_for(lambda: not servers(packed_robometer), "the sidecar's end")
    finally:
        camera.close()


def test_a_deployment_runs_the_reward_skill_that_its_scene_names(
    packed_robometer: Path, tmp_path: Path
) -> None:
    scene = yaml.safe_load((ROOT / "scenes" / "deploy" / "metaworld_drawer.yaml").read_text())
    scene["scene"].update(observation_height=SIZE, observation_width=SIZE)
    scene["reward_skill"] = str(packed_robometer)
    scene["mission"] = "open the drawer"
    (tmp_path / "scene.yaml").write_text(yaml.safe_dump(scene))
    words = ("--config", "scene.yaml", "--enable-reward-monitor", "--run-dir", "run", "--no-video")
    with Stack(tmp_path, "openral", "deploy", "sim", *words) as stack:
        system_stack.wait_for(
            lambda: not stack.running, lambda: f"the end; output:\n{stack.output}", PATIENCE_S
        )
        assert "rskill-tiny-robometer 0.1.0 watches camera corner2" in stack.output
        assert "Traceback" not in stack.output, stack.output
        # Random weights call nothing a success; that their readings decided, is what counts.
        # An open drawer is closed before it is opened, which is a task of its own.
        task, *_ = json.loads((tmp_path / "run" / "summary.json").read_text())["tasks"]
        assert task["state"] == "abandoned", stack.output
        assert 0.0 < task["progress"] < 0.8, stack.output
        assert task["attempts"] >= 1
    wait_for(lambda: not servers(packed_robometer), "the sidecar's end")
