"""A reward monitor that hangs in the moment in which it saw a success: what it said before proves nothing later."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any

import pytest
from faults_deployment import Deployed, deployed
from faults_files import WORDS, World
from faults_member import Member
from openral.msg import TaskProgress
from system_operator import ENDED
from system_stack import wait_for

STILL = "still"
BRIEFLY_S, LONG_S = 5.0, 20.0
"""[s] for which the monitor hangs: longer than a reading counts as fresh, and much longer."""
FRESH = 10
"""Readings after which, some seconds long, the reasoner would have called a task done."""
DONE = 0.8
"""Score from which one reading says that the task is done."""
RUNS_S = 40.0
"""[s] for which the skill may try; longer than the monitor hangs."""


def hang(running: Deployed, hung_s: float, *, to_the_end: bool) -> str:
    """Have the monitor hang in a mission whose arm stays where it is; return what the mission says at last.

    The mission is followed until fresh readings have been judged, or until it ends or asks.
    """
    operator, stack = running.operator, running.stack
    monitor, said, begun = stack.node("reward_monitor"), len(stack.output), stamp_of(running)
    readings: list[Any] = []
    hangs_s: list[float] = []

    def hear(reading: Any) -> None:
        readings.append(reading)
        if min(reading.progress, reading.success) >= DONE and not hangs_s:
            monitor.send_signal(signal.SIGSTOP)
            hangs_s.append(time.monotonic())

    with Member(stack) as member:
        member.node.create_subscription(TaskProgress, "/openral/progress", hear, 10)
        running.world.turn(monitor="one", policy="stay")
        operator.say("open the drawer")
        wait_for(lambda: hangs_s, "a first reading that says that it is done")
        running.world.turn(policy="stay")
        try:
            while time.monotonic() < hangs_s[0] + hung_s:
                last = operator.missions[-1]
                assert last.state != "done", f"done by a reading of the past: {last.message}"
                time.sleep(0.05)
        finally:
            monitor.send_signal(signal.SIGCONT)
        heard = len(readings)
        operator.until(lambda: len(readings) > heard, "the monitor to speak again")
        operator.until(
            lambda: is_over(running) or (len(readings) > heard + FRESH and not to_the_end),
            "the end of the mission, or a question",
        )
    last = operator.missions[-1]
    assert last.state != "done", last.message
    assert last.question or not to_the_end or "progress stands at" in last.message
    truth = running.until_recorded()
    assert not truth["success"][truth["stamp_s"] > begun].any(), "the world itself never saw the task done"
    assert monitor.is_running(), "it was not taken for dead"
    assert "Traceback" not in stack.output[said:]
    return str(last.question or last.message)[:100]


def is_over(running: Deployed) -> bool:
    """Whether the mission has ended, or asks."""
    last = running.operator.missions[-1]
    return bool(last.state in ENDED or last.question)


def stamp_of(running: Deployed) -> float:
    """[s] of the bridge's newest words."""
    stamp = running.status.header.stamp
    return float(stamp.sec + stamp.nanosec * 1e-9)


def record(figure: Any, hung_s: float, told: str) -> None:
    figure(
        row=21,
        injected=f"SIGSTOP of the reward monitor for {hung_s:g} s, right after it saw a success that was none",
        times=1,
        happened=f"never done; {told}",
        bar="no success",
    )


def test_a_monitor_that_hangs_makes_no_success(shared: Deployed, figure: Any) -> None:
    shared.operator.reset("", -1)
    told = len(shared.operator.status)
    shared.operator.until(lambda: len(shared.operator.status) > told, "the bridge's words after the reset")
    record(figure, BRIEFLY_S, hang(shared, BRIEFLY_S, to_the_end=False))


@pytest.mark.long
def test_a_monitor_that_hangs_for_twenty_seconds_makes_no_success(tmp_path: Path, figure: Any) -> None:
    """In a skill that may try for longer than that."""
    world = World(tmp_path)
    budget = {"per_chunk_ms": 50.0, "max_execution_s": RUNS_S}
    skill = world.skill(STILL, "fake", {"action": [0.0, 0.0, 0.0, -1.0]}, latency_budget=budget, **WORDS)
    world.scene = world.write_scene("still.yaml", skills=[skill], reward_skill=world.reward)
    with deployed(world) as running:
        running.operator.until_active(STILL)
        record(figure, LONG_S, hang(running, LONG_S, to_the_end=True))
