"""Nodes killed in the middle of a skill: the arm holds, they are started again, and the mission ends honestly."""

from __future__ import annotations

import json
import signal

import numpy as np
import pytest
from system_files import load_truth
from system_operator import ENDED, Operator
from system_stack import Stack, wait_for

RESTARTS = 3
LAST_WORDS = {
    "policy_node": "/openral/policy/mini_metaworld did not come back within 30 s",
    "reward_monitor": "it could not be verified",
}


def killed(stack: Stack, executable: str) -> None:
    """Kill a node without a warning, and wait until its process is no more."""
    process = stack.node(executable)
    process.send_signal(signal.SIGKILL)
    wait_for(lambda: process not in stack.processes(), f"the end of {executable}")


def moved_while_held(folder) -> bool:
    """Whether the set point moved in a step of the run in which the arm was said to hold."""
    truth = load_truth(folder / "run")
    moved = np.abs(np.diff(truth["mocap_pos"], axis=0)).max(axis=1)
    return bool(moved[truth["held"][1:]].any())


@pytest.mark.parametrize(
    "executable", ["policy_node", pytest.param("reward_monitor", marks=pytest.mark.long)]
)
def test_a_node_killed_once_is_started_again_and_the_mission_goes_on(tmp_path, executable):
    words = ("--config", "metaworld_drawer", "--run-dir", "run", "--no-video")
    with Stack(tmp_path, "openral", "deploy", "sim", *words) as stack, Operator(stack) as operator:
        first = operator.until_moving()
        killed(stack, executable)
        stack.until_says("ended with -9; it is started again, 2 times more at most")
        operator.until(
            lambda: operator.missions and operator.missions[-1].state in ENDED, "the mission's end"
        )
        code = stack.wait()
    mission = operator.missions[-1]
    assert mission.state == "done", mission.message
    assert code == 0, "the simulator agrees"
    goals = {status.active_goal for status in operator.status} - {"", first}
    assert len(goals) >= (2 if executable == "policy_node" else 1), "the task again, and the next one"
    died = [error for error in stack.errors if "process has died" in error]
    assert len(died) == 1, stack.errors
    assert f"[{executable}-" in died[0]
    assert not moved_while_held(tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("executable", ["policy_node", "reward_monitor"])
def test_a_node_that_dies_again_and_again_is_gone_without(tmp_path, executable):
    words = ("--config", "metaworld_drawer", "--run-dir", "run", "--no-video")
    with Stack(tmp_path, "openral", "deploy", "sim", *words) as stack, Operator(stack) as operator:
        operator.until_moving()
        for left in range(RESTARTS - 1, -1, -1):
            killed(stack, executable)
            stack.until_says(f"it is started again, {left} times more at most")
        killed(stack, executable)
        stack.until_says("broke down 4 times; the deployment goes on without it")
        operator.until(
            lambda: operator.missions and operator.missions[-1].state in ENDED, "the mission's end"
        )
        assert stack.wait() == 1
    mission = operator.missions[-1]
    assert mission.state == "failed"
    assert LAST_WORDS[executable] in mission.message, mission.message
    assert not json.loads((tmp_path / "run/summary.json").read_text())["passed"]
    assert not moved_while_held(tmp_path)
    truth = load_truth(tmp_path / "run")
    last = int(np.flatnonzero(~truth["held"])[-1])
    assert len(truth["held"]) > last + 16, "the bridge went on, and held"
