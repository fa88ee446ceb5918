"""A node killed in the middle of a skill: the arm holds, one clear error, and the mission ends honestly."""

from __future__ import annotations

import json
import signal

import numpy as np
import pytest
from system_files import load_truth
from system_operator import ENDED, Operator
from system_stack import Stack

LAST_WORDS = {
    "policy_node": "/openral/policy/mini_metaworld did not come back within 10 s",
    "reward_monitor": "it could not be verified: the reward monitor",
}


@pytest.mark.parametrize("executable", ["policy_node", "reward_monitor"])
def test_a_node_killed_in_the_middle_of_a_skill(tmp_path, executable):
    words = ("--config", "metaworld_drawer", "--run-dir", "run", "--no-video")
    with Stack(tmp_path, "openral", "deploy", "sim", *words) as stack, Operator(stack) as operator:
        operator.until_moving()
        stack.node(executable).send_signal(signal.SIGKILL)
        operator.until(
            lambda: operator.missions and operator.missions[-1].state in ENDED, "the mission's end"
        )
        assert stack.wait() == 1
    mission = operator.missions[-1]
    assert mission.state == "failed"
    assert LAST_WORDS[executable] in mission.message, mission.message
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    assert not summary["passed"]
    assert len(stack.errors) == 1, stack.errors
    assert f"[{executable}-" in stack.errors[0]
    assert "process has died" in stack.errors[0]
    truth = load_truth(tmp_path / "run")
    last = int(np.flatnonzero(~truth["held"])[-1])
    assert len(truth["held"]) > last + 16, "the bridge went on, and held"
    assert not np.abs(np.diff(truth["mocap_pos"][last:], axis=0)).any(), (
        "the set point moved in a step that held"
    )
