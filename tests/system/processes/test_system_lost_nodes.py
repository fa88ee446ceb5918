"""Nodes killed in the middle of a skill: the arm holds, they are started again, and the mission ends honestly."""

from __future__ import annotations

import json
import signal
from typing import Any

import numpy as np
import pytest
from system_files import load_truth, write_scene
from system_operator import ENDED, Operator
from system_stack import Stack, wait_for

RESTARTS = 3
SKILL = "openral/rskill-mini-metaworld"
AGAIN = "ended with -9; it is started again, 2 times more at most"
LAST_WORDS = {
    "policy_node": "/openral/policy/mini_metaworld did not come back within 30 s",
    "reward_monitor": "it could not be verified",
}


def killed(stack: Stack, executable: str) -> None:
    """Kill a node without a warning, and wait until its process is no more."""
    process = stack.node(executable)
    process.send_signal(signal.SIGKILL)
    wait_for(lambda: process not in stack.processes(), f"the end of {executable}")


def end_of(operator: Operator, stack: Stack) -> tuple[Any, int]:
    """Wait for the end of the mission and of its deployment; return the mission and the exit code."""
    operator.until(lambda: operator.missions and operator.missions[-1].state in ENDED, "the mission's end")
    return operator.missions[-1], stack.wait()


def deaths(stack: Stack, *executables: str) -> dict[str, int]:
    """How often each of these nodes has died; no other may have."""
    died = [error for error in stack.errors if "process has died" in error]
    found = {name: sum(f"[{name}-" in error for error in died) for name in executables}
    assert sum(found.values()) == len(died), stack.errors
    return found


def moved_while_held(folder) -> bool:
    """Whether the set point moved in a step of the run in which the arm was said to hold."""
    truth = load_truth(folder / "run")
    moved = np.abs(np.diff(truth["mocap_pos"], axis=0)).max(axis=1)
    return bool(moved[truth["held"][1:]].any())


def test_reasoner_and_policy_node_killed_once_are_started_again_and_the_mission_goes_on(tmp_path):
    scene = write_scene(tmp_path, resume="always")
    words = ("--config", str(scene), "--run-dir", "run", "--no-video")
    with Stack(tmp_path, "openral", "deploy", "sim", *words) as stack, Operator(stack) as operator:
        stack.until_says("attempt 1")  # the drive to the start is over
        first = operator.until_moving()
        killed(stack, "reasoner")
        stack.until_says(AGAIN)
        operator.until(
            lambda: operator.status[-1].active_goal != first, "the end of the motion that was begun before"
        )
        operator.until(lambda: operator.status[-1].skill == SKILL, "the policy")
        second = operator.until_moving()
        killed(stack, "policy_node")
        stack.until_says(AGAIN, times=2)
        mission, code = end_of(operator, stack)
    assert mission.state == "done", mission.message
    assert code == 0, "the simulator agrees"
    goals = {status.active_goal for status in operator.status} - {"", first, second}
    assert len(goals) >= 2, "the task again, and the next one"
    assert deaths(stack, "reasoner", "policy_node") == {"reasoner": 1, "policy_node": 1}
    assert not moved_while_held(tmp_path)
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    assert summary["passed"]
    assert [task["skill_task"] for task in summary["tasks"]] == ["drawer-open-v3", "drawer-close-v3"]
    kinds = [json.loads(line)["kind"] for line in (tmp_path / "run/mission.jsonl").read_text().splitlines()]
    assert kinds.count("resume") == 3, "it said that it was restarted, why it goes on, and what it looks at"


@pytest.mark.long
def test_a_monitor_killed_once_is_started_again_and_the_mission_goes_on(tmp_path):
    words = ("--config", "metaworld_drawer", "--run-dir", "run", "--no-video")
    with Stack(tmp_path, "openral", "deploy", "sim", *words) as stack, Operator(stack) as operator:
        first = operator.until_moving()
        killed(stack, "reward_monitor")
        stack.until_says(AGAIN)
        mission, code = end_of(operator, stack)
    assert mission.state == "done", mission.message
    assert code == 0, "the simulator agrees"
    assert {status.active_goal for status in operator.status} - {"", first}, "the next task"
    assert deaths(stack, "reward_monitor") == {"reward_monitor": 1}
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
        mission, code = end_of(operator, stack)
    assert code == 1
    assert mission.state == "failed"
    assert LAST_WORDS[executable] in mission.message, mission.message
    assert not json.loads((tmp_path / "run/summary.json").read_text())["passed"]
    assert not moved_while_held(tmp_path)
    truth = load_truth(tmp_path / "run")
    last = int(np.flatnonzero(~truth["held"])[-1])
    assert len(truth["held"]) > last + 16, "the bridge went on, and held"
