"""The reasoner is killed in the middle of a mission: the deployment starts it again, and the mission ends right."""

from __future__ import annotations

import json
import signal

from system_files import write_scene
from system_operator import ENDED, Operator
from system_stack import Stack


def test_a_killed_reasoner_takes_its_mission_up(tmp_path):
    scene = write_scene(tmp_path, resume="always")
    words = ("--config", str(scene), "--run-dir", "run", "--no-video")
    with Stack(tmp_path, "openral", "deploy", "sim", *words) as stack, Operator(stack) as operator:
        stack.until_says("attempt 1")  # the drive to the start is over
        goal = operator.until_moving()
        stack.node("reasoner").send_signal(signal.SIGKILL)
        operator.until(
            lambda: operator.status[-1].active_goal != goal, "the end of the motion that was begun before"
        )
        operator.until(lambda: operator.missions[-1].state in ENDED, "the mission's end")
        assert operator.missions[-1].state == "done", operator.missions[-1].message
        assert stack.wait() == 0, stack.output
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    assert summary["passed"]
    assert [task["skill_task"] for task in summary["tasks"]] == ["drawer-open-v3", "drawer-close-v3"]
    kinds = [json.loads(line)["kind"] for line in (tmp_path / "run/mission.jsonl").read_text().splitlines()]
    assert kinds.count("resume") == 3, "it said that it was restarted, why it goes on, and what it looks at"
