"""The reward monitor is advisory: dead, sure, noisy or without numbers, it moves nothing and stops nothing."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from typing import Any

import numpy as np
import psutil
import pytest
from faults_census import census
from faults_deployment import STEADY, Deployed
from system_stack import wait_for

DEADLINE = 3
COMMAND = np.float32([0.05, 0.0, 0.0, -1.0])
"""What the steady skill commands at every step."""
SOAK_S = float(os.environ.get("FAULTS_SOAK_S", "3600"))
"""[s] of missions in the long half."""
WARM_UP = 0.3
"""Share of the time after which memory must be flat."""
GROWTH = 0.05


def commands_of(truth: dict[str, np.ndarray], goal: str) -> Any:
    """Return the distinct actions that were executed for a goal (N, 4), by the simulator's record."""
    rows = ~truth["held"] & (truth["goals"][truth["goal"]] == goal)
    return np.unique(truth["action"][rows].astype(np.float32), axis=0)


def wave(shared: Deployed, seconds: float) -> tuple[Any, str]:
    """Send the steady skill for so long; return a function that waits for its result, and its goal."""
    shared.operator.reset("", -1)
    handle = shared.operator.send_goal(STEADY, "wave", seconds)

    def result() -> Any:
        ended = handle.get_result_async()
        shared.operator.until(ended.done, "the end of the goal")
        return ended.result().result

    return result, bytes(handle.goal_id.uuid).hex()


def test_what_the_monitor_says_changes_no_command(shared: Deployed, figure: Any) -> None:
    behaviours = ("truth", "one", "nan", "noise", "raise")
    goals = {}
    for behaviour in behaviours:
        shared.world.turn(monitor=behaviour)
        ended, goals[behaviour] = wave(shared, 0.5)
        assert ended().outcome == DEADLINE, behaviour
    truth = shared.until_recorded()
    for behaviour, goal in goals.items():
        assert np.array_equal(commands_of(truth, goal), [COMMAND]), behaviour
    figure(
        row=21,
        injected="a monitor that says the truth, always 1, NaN, noise, or raises",
        times=len(behaviours),
        happened="the same commands were executed, each goal ran to its deadline",
        worst=0,
        unit="commands changed",
        bar="0",
    )


def test_a_monitor_without_numbers_lets_no_task_be_called_done(shared: Deployed, figure: Any) -> None:
    shared.operator.reset("", -1)
    shared.world.turn(monitor="nan")
    mission = shared.mission("open the drawer")
    assert mission.state != "done", mission
    figure(
        row=21,
        injected="a monitor that says NaN during a mission",
        times=1,
        happened="the task was not called done; the operator was told or asked",
        lost="the verdict",
        bar="no false success",
    )


def test_a_killed_monitor_stops_no_goal(shared: Deployed, figure: Any) -> None:
    ended, goal = wave(shared, 1.0)
    shared.operator.until_moving()
    shared.stack.node("reward_monitor").kill()
    assert ended().outcome == DEADLINE
    assert np.array_equal(commands_of(shared.until_recorded(), goal), [COMMAND])
    assert shared.stack.running
    figure(
        row=21,
        injected="SIGKILL of the monitor in the middle of a goal",
        times=1,
        happened="the goal ran to its deadline",
        worst=0,
        unit="commands changed",
        bar="0",
    )


def soak(shared: Deployed, seconds: float, least: int) -> tuple[int, float, float]:
    """Do missions for so long, at least so many.

    Returns:
        How many; growth of the nodes' memory after the warming up, as a share; lowest share of the control rate.
    """
    begun, count, warm, rates = time.monotonic(), 0, 0.0, [1.0]
    nodes = commands(shared)
    while count < least or time.monotonic() - begun < seconds:
        mission = shared.mission(("open the drawer", "close the drawer")[count % 2])
        assert mission.state == "done", mission.message
        count += 1
        rates.append(shared.status.effective_hz / shared.status.control_hz)
        if not warm and count >= least // 2 and time.monotonic() - begun >= WARM_UP * seconds:
            warm = memory(nodes)
    now = commands(shared)
    lost = [words for pid, words in nodes.items() if pid not in now]
    assert not lost, f"after {count} missions these processes were lost or started anew: {lost}"
    return count, memory(nodes) / warm - 1.0, min(rates)


def commands(shared: Deployed) -> dict[int, str]:
    """Return the command lines of a deployment's processes, sidecars included, by process id."""
    wait_for(lambda: len(shared.stack.processes()) >= 6, "every node")
    return {process.pid: " ".join(process.cmdline()) for process in shared.stack.processes()}


def memory(pids: Iterable[int]) -> float:
    """Return the resident memory of processes [MiB]."""
    return census(psutil.Process(pid) for pid in pids).rss_mb


def record(figure: Any, count: int, growth: float, rate: float) -> None:
    figure(
        row=26,
        injected="missions one after another",
        times=count,
        happened=f"all done; the control rate was {100 * rate:.0f} % of its nominal one at the lowest",
        worst=100 * growth,
        unit="% more memory",
        bar="5 %",
    )


def test_missions_one_after_another_are_all_done(shared: Deployed, figure: Any) -> None:
    record(figure, *soak(shared, 0.0, 2))


@pytest.mark.long
@pytest.mark.timeout(2 * SOAK_S + 600)
def test_an_hour_of_missions_costs_no_memory(shared: Deployed, figure: Any) -> None:
    count, growth, rate = soak(shared, SOAK_S, 20)
    record(figure, count, growth, rate)
    assert growth < GROWTH, f"{100 * growth:.1f} % more memory after {count} missions"
