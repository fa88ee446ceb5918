"""From an operator's "stop" to the arm that holds, while a language model thinks; beside it, a client's own cancel."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import numpy as np
import pytest
from system_files import load_truth
from system_thinking import Thinking, thinking

TRIALS, REFERENCES = 200, 40
BAR_S = 0.1
CANCELED = 4
FREE_LOAD = 1.5
"""Load average a core, above which the wall clock also counts waits for a turn of the processor: there it is the median
of the wall times that must keep the bar, and always the 99th percentile of the simulation's."""


def trial(deployment: Thinking, stop: Callable[[], object]) -> tuple[float, str]:
    """Let the arm move and stop it; return when that was said [s, monotonic], and the goal.

    A goal that ended of itself before it was stopped is no trial; another is begun.
    """
    operator = deployment.operator
    while True:
        goal = deployment.begin()
        said_s = time.monotonic()
        stop()
        deployment.until_held()
        ended = deployment.handle.get_result_async()
        operator.until(ended.done, "the goal's end")
        if ended.result().result.outcome == CANCELED:
            return said_s, goal


def delays(truth: dict[str, np.ndarray], said: list[tuple[float, str]]) -> tuple[np.ndarray, np.ndarray]:
    """Wall and simulation time [s] from each word to the first control step that holds.

    Only of the trials whose arm moved in the step before the word: late chunks may have let it hold by itself.
    """
    goals = truth["goals"].tolist()
    wall, simulated = [], []
    for said_s, goal in said:
        before = int(np.searchsorted(truth["wall_s"], said_s)) - 1
        held = int(np.flatnonzero(truth["goal"] == goals.index(goal))[-1]) + 1
        if held > before:
            wall.append(truth["wall_s"][held] - said_s)
            simulated.append(truth["stamp_s"][held] - truth["stamp_s"][before])
    return np.array(wall), np.array(simulated)


def told(seconds: np.ndarray) -> str:
    """50th, 95th and 99th percentile in milliseconds."""
    return "/".join(f"{1e3 * value:.0f}" for value in np.percentile(seconds, (50, 95, 99))) + " ms"


@pytest.mark.timeout(900)
def test_stop_while_a_language_model_thinks(tmp_path, report):
    said, cancelled, loads = [], [], []
    with thinking(tmp_path) as deployment:
        for number in range(TRIALS):
            said.append(trial(deployment, lambda: deployment.operator.say("stop")))
            loads.append(os.getloadavg()[0] / (os.cpu_count() or 1))
            if number % (TRIALS // REFERENCES) == 0:
                cancelled.append(trial(deployment, lambda: deployment.handle.cancel_goal_async()))
    truth = load_truth(tmp_path / "run")
    wall, simulated = delays(truth, said)
    reference, _ = delays(truth, cancelled)
    percentile = 99 if max(loads) <= FREE_LOAD else 50
    report(
        f"operator's stop -> arm holds, a language model thinking, {len(wall)} of {TRIALS} trials in motion, "
        f"load {min(loads):.1f} to {max(loads):.1f} a core",
        f"p50/p95/p99: wall {told(wall)}, simulated {told(simulated)}",
        f"its own client cancels: wall {told(reference)}",
        f"{1e3 * BAR_S:.0f} ms: p99 simulated, p{percentile} wall",
    )
    assert len(wall) >= TRIALS / 2
    assert np.percentile(simulated, 99) <= BAR_S + 1e-6
    assert np.percentile(wall, percentile) <= BAR_S
