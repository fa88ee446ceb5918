"""From an operator's "stop" to the arm that holds, while a language model thinks; beside it, a client's own cancel."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest
from system_files import load_truth
from system_thinking import Thinking, thinking

TRIALS, REFERENCES = 200, 50
BAR_S = 0.1


def trial(deployment: Thinking, stop: Callable[[], object]) -> tuple[float, str]:
    """Let the arm move and stop it; return when that was said [s, monotonic], and the goal."""
    goal = deployment.begin()
    said_s = time.monotonic()
    stop()
    deployment.until_held()
    return said_s, goal


def delays(truth: dict[str, np.ndarray], said: list[tuple[float, str]]) -> tuple[np.ndarray, np.ndarray]:
    """Wall and simulation time [s] from each word to the end of the last control step that its goal moved the arm."""
    goals = truth["goals"].tolist()
    last = [int(np.flatnonzero(truth["goal"] == goals.index(goal))[-1]) for _, goal in said]
    heard = [int(np.searchsorted(truth["wall_s"], said_s)) for said_s, _ in said]
    wall = [truth["wall_s"][step] - said_s for step, (said_s, _) in zip(last, said, strict=True)]
    simulated = [
        truth["stamp_s"][step] - truth["stamp_s"][first] for step, first in zip(last, heard, strict=True)
    ]
    return np.maximum(wall, 0.0), np.maximum(simulated, 0.0)


@pytest.mark.timeout(1800)
def test_stop_while_a_language_model_thinks(tmp_path, report):
    said, cancelled = [], []
    with thinking(tmp_path) as deployment:
        for number in range(TRIALS):
            said.append(trial(deployment, lambda: deployment.operator.say("stop")))
            if number % (TRIALS // REFERENCES) == 0:
                cancelled.append(trial(deployment, lambda: deployment.handle.cancel_goal_async()))
                deployment.operator.say("stop")
    truth = load_truth(tmp_path / "run")
    wall, simulated = delays(truth, said)
    reference, _ = delays(truth, cancelled)
    p99_wall, p99_simulated = np.percentile(wall, 99), np.percentile(simulated, 99)
    report(
        f"operator's stop -> arm holds, a language model thinking, {TRIALS} trials",
        f"p50 {1e3 * np.median(wall):.0f} ms, p99 {1e3 * p99_wall:.0f} ms; simulated p99 {1e3 * p99_simulated:.0f} ms",
        f"its own client cancels: p50 {1e3 * np.median(reference):.0f} ms, worst {1e3 * reference.max():.0f} ms",
        f"p99 {1e3 * BAR_S:.0f} ms, both times",
    )
    assert p99_wall <= BAR_S
    assert p99_simulated <= BAR_S
