"""A reward monitor that hangs in the moment in which it saw a success: what it said before proves nothing later."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any

import pytest
from faults_deployment import deployed
from faults_files import WORDS, World
from faults_member import Member
from openral.msg import TaskProgress
from system_operator import ENDED
from system_stack import wait_for

STILL = "still"
BRIEFLY_S, LONG_S = 6.0, 20.0
"""[s] for which the monitor hangs: longer than a reading counts as fresh, and much longer."""
FRESH = 10
"""Readings after which, some seconds long, the reasoner would have called a task done."""
DONE = 0.8
"""Score from which one reading says that the task is done."""
RUNS_S = 40.0
"""[s] for which the skill may try; longer than the monitor hangs."""


@pytest.mark.parametrize(
    ("hung_s", "to_the_end"),
    [
        pytest.param(BRIEFLY_S, False, id="briefly"),
        pytest.param(LONG_S, True, id="to the end", marks=pytest.mark.long),
    ],
)
def test_a_monitor_that_hangs_makes_no_success(
    tmp_path: Path, figure: Any, hung_s: float, to_the_end: bool
) -> None:
    """The mission is followed until fresh readings have been judged, or until it ends or asks."""
    world = World(tmp_path)
    budget = {"per_chunk_ms": 50.0, "max_execution_s": RUNS_S}
    skill = world.skill(STILL, "fake", {"action": [0.0, 0.0, 0.0, -1.0]}, latency_budget=budget, **WORDS)
    world.scene = world.write_scene("still.yaml", skills=[skill], reward_skill=world.reward)
    with deployed(world) as running, Member(running.stack) as member:
        operator = running.operator
        operator.until_active(STILL)
        monitor = running.stack.node("reward_monitor")
        readings: list[Any] = []
        hangs_s: list[float] = []

        def hear(reading: Any) -> None:
            readings.append(reading)
            if min(reading.progress, reading.success) >= DONE and not hangs_s:
                monitor.send_signal(signal.SIGSTOP)
                hangs_s.append(time.monotonic())

        member.node.create_subscription(TaskProgress, "/openral/progress", hear, 10)
        world.turn(monitor="one")
        operator.say("open the drawer")
        wait_for(lambda: hangs_s, "a first reading that says that it is done")
        world.turn()
        try:
            while time.monotonic() < hangs_s[0] + hung_s:
                last = operator.missions[-1]
                assert last.state != "done", f"done by a reading of the past: {last.message}"
                time.sleep(0.05)
        finally:
            monitor.send_signal(signal.SIGCONT)
        heard = len(readings)
        operator.until(lambda: len(readings) > heard + FRESH, "the monitor to speak again")
        if to_the_end:
            operator.until(
                lambda: operator.missions[-1].state in ENDED or operator.missions[-1].question,
                "the end of the mission, or a question",
            )
        last = operator.missions[-1]
        assert last.state != "done", last.message
        assert last.question or not to_the_end or "progress stands at" in last.message
        assert not running.truth()["success"].any(), "the world itself never saw the task done"
        assert monitor.is_running(), "it was not taken for dead"
        assert "Traceback" not in running.stack.output
    figure(
        row=21,
        injected=f"SIGSTOP of the reward monitor for {hung_s:g} s, right after it saw a success that was none",
        times=1,
        happened=f"never done; {(last.question or last.message)[:100]}",
        bar="no success",
    )
