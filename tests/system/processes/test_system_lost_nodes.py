"""Nodes killed in the middle of a skill: the arm holds, they are started again, and the mission ends honestly."""

from __future__ import annotations

import json
import signal
from typing import Any

import numpy as np
import pytest
from system_files import load_truth, moved_while_held, until_recorded
from system_operator import ENDED, Operator
from system_stack import Stack, wait_for

from openral_cli.deploy.run_outcome import judge

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


@pytest.mark.slow
def test_reasoner_and_policy_node_killed_once_are_started_again_and_the_mission_goes_on(drawer):
    stack, operator = drawer
    operator.until(lambda: operator.missions and operator.missions[-1].state in ENDED, "an earlier mission")
    known, begun = operator.missions[-1].id, len(operator.status)
    earlier = {status.active_goal for status in operator.status}
    operator.say("open the drawer, then close it")
    first = operator.until_begun(SKILL, earlier)
    killed(stack, "reasoner")
    stack.until_says(AGAIN)
    operator.until(
        lambda: operator.status[-1].active_goal != first, "the end of the motion that was begun before"
    )
    second = operator.until_begun(SKILL, {*earlier, first})
    killed(stack, "policy_node")
    stack.until_says(AGAIN, times=2)

    def has_ended() -> bool:
        return operator.missions[-1].id != known and operator.missions[-1].state in ENDED

    operator.until(has_ended, "the mission's end")
    assert operator.missions[-1].state == "done", operator.missions[-1].message
    goals = {status.active_goal for status in operator.status[begun:]} - {"", first, second}
    assert len(goals) >= 2, "the task again, and the next one"
    assert deaths(stack, "reasoner", "policy_node") == {"reasoner": 1, "policy_node": 1}
    run = stack.folder / "run"
    truth = until_recorded(run, operator)
    assert not moved_while_held(truth)
    outcome = judge(run)
    assert outcome.passed, "the simulator agrees"
    assert [task.skill_task for task in outcome.tasks] == ["drawer-open-v3", "drawer-close-v3"]
    kinds = [json.loads(line)["kind"] for line in (run / "mission.jsonl").read_text().splitlines()]
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
    assert not moved_while_held(load_truth(tmp_path / "run"))


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
        stack.until_says("does not come back; the deployment goes on without it")
        mission, code = end_of(operator, stack)
    assert code == 1
    assert mission.state == "failed"
    assert LAST_WORDS[executable] in mission.message, mission.message
    assert not json.loads((tmp_path / "run/summary.json").read_text())["passed"]
    assert not moved_while_held(load_truth(tmp_path / "run"))
    truth = load_truth(tmp_path / "run")
    last = int(np.flatnonzero(~truth["held"])[-1])
    assert len(truth["held"]) > last + 16, "the bridge went on, and held"
