"""Ctrl-C at any moment of `openral demo`, and SIGTERM to a deployment, leave no process behind."""

from __future__ import annotations

import json
import time

import pytest
from system_files import write_bare_scene, write_skill
from system_stack import Stack, wait_for

INTERRUPTED, TERMINATED = 130, 143


@pytest.mark.parametrize("seconds", [0.2, pytest.param(2.0, marks=pytest.mark.slow)])
def test_during_start_up(tmp_path, seconds):
    with Stack(tmp_path, "openral", "demo") as stack:
        wait_for(lambda: len(stack.processes()) > 1, "the launch")
        time.sleep(seconds)
        stack.interrupt()
        code = stack.wait()
        begun = list(tmp_path.glob("runs/*/summary.json"))  # the reasoner had the order already
        assert code == (1 if begun else INTERRUPTED), stack.output
    assert "Traceback" not in stack.output


@pytest.mark.slow
def test_during_the_mission(tmp_path):
    with Stack(tmp_path, "openral", "demo", "--no-video") as stack:
        stack.until_says("attempt 1")
        stack.interrupt()
        assert stack.wait() == 1, stack.output
    assert "Traceback" not in stack.output
    [summary] = tmp_path.glob("runs/*/summary.json")
    content = json.loads(summary.read_text())
    assert (content["state"], content["passed"]) == ("stopped", False)


def test_a_deployment_that_is_terminated_says_what_became_of_it(tmp_path):
    skill = write_skill(tmp_path, "good", action=[0.05, 0.0, 0.0, -1.0])
    scene = write_bare_scene(tmp_path, skills=[skill], mission="open the drawer")
    with Stack(tmp_path, "openral", "deploy", "sim", "--config", str(scene)) as stack:
        stack.until_says("attempt 1")
        wait_for(lambda: list(tmp_path.glob("runs/*/truth.npz")), "the simulator's record")
        stack.terminate()
        assert stack.wait() == TERMINATED, stack.output
    assert "Traceback" not in stack.output
    [summary] = tmp_path.glob("runs/*/summary.json")
    assert json.loads(summary.read_text())["state"] == "stopped"
    assert "everything about this run" in stack.output


@pytest.mark.long
def test_during_the_film(tmp_path):
    with Stack(tmp_path, "openral", "demo", "--mission", "open the drawer") as stack:
        stack.until_says("the simulator agrees")
        wait_for(lambda: list(tmp_path.glob("runs/*/.mission.mp4.*.partial")), "the film to begin")
        stack.interrupt()
        assert stack.wait() == INTERRUPTED, stack.output
    assert "Traceback" not in stack.output
