"""The operator of trials does not wait for a policy node that has ended."""

from __future__ import annotations

import subprocess
import sys

import pytest

from openral_core.errors import OpenralError
from openral_robot_bridge.ros.trial_operator import TrialOperator

NODE = """
import time
import rclpy
from openral.action import ExecuteSkill
from openral.msg import SkillInfo
from openral_core.ros.qos import SKILLS
from rclpy.action import ActionServer

rclpy.init()
node = rclpy.create_node("policy", namespace="/openral")

def work(handle):
    if handle.request.instruction == "end":
        handle.succeed()
        return ExecuteSkill.Result(outcome=ExecuteSkill.Result.SUCCEEDED, steps=7)
    print("working", flush=True)
    time.sleep(600)

input()
server = ActionServer(node, ExecuteSkill, "skills/lift/execute", work)
skills = node.create_publisher(SkillInfo, "skills", SKILLS)
skills.publish(SkillInfo(slug="lift", active=True))
rclpy.spin(node)
"""


@pytest.mark.parametrize("comes_back", [False, True])
def test_a_policy_node_that_is_killed_in_mid_goal_ends_the_trial(
    monkeypatch: pytest.MonkeyPatch, comes_back: bool
) -> None:
    monkeypatch.setattr("openral_robot_bridge.ros.trial_operator.GONE_S", 0.5)
    command = [sys.executable, "-c", NODE]
    nodes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    first, second = nodes

    def kill_once_it_works() -> bool:
        if first.poll() is None:
            assert first.stdout is not None
            assert first.stdout.readline() == "working\n"
            first.kill()
            first.wait()
            if comes_back:
                print(file=second.stdin, flush=True)
        return False

    try:
        with TrialOperator("lift", lambda: True) as operator:
            print(file=first.stdin, flush=True)
            operator.until_ready(60.0)
            assert operator.run("end", 5.0, 10, lambda: False).steps == 7
            with pytest.raises(OpenralError, match=r"the policy node of lift ended in mid-goal"):
                operator.run("lift it", 5.0, 10, kill_once_it_works)
    finally:
        for node in nodes:
            node.kill()
            node.communicate()
