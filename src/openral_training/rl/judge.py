"""A policy judged at its best, on states it never learnt on: every episode a row, every rate an interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openral_core.statistics import wilson_interval
from openral_training.rl.attempts import Attempt
from openral_training.rl.players import GREEDY, Players
from openral_training.rl.policy import StochasticPolicy


def judge(
    players: Players, policy: StochasticPolicy, tasks: Sequence[str], init_ids: Sequence[int]
) -> dict[str, Any]:
    """Try each task once from each initial state, without chance, and return rates and rows.

    Args:
        players: let it act.
        policy: acts greedily.
        tasks: of the run.
        init_ids: of each task.
    """
    attempts = [Attempt(task, init_id, (0,)) for task in tasks for init_id in init_ids]
    lived = players.play(policy, attempts, GREEDY)
    rows = [
        {"task": t.attempt.task, "init_id": t.attempt.init_id, "success": t.success, "steps": t.steps}
        for t in lived
    ]
    return {
        "all_episodes": rate([t.success for t in lived]),
        "tasks": {task: rate([t.success for t in lived if t.attempt.task == task]) for task in tasks},
        "episodes": rows,
    }


def rate(successes: Sequence[bool]) -> dict[str, Any]:
    """Return a success rate with its Wilson interval."""
    low, high = wilson_interval(sum(successes), len(successes))
    return {
        "success_rate": round(sum(successes) / len(successes), 4),
        "wilson_95": [round(low, 4), round(high, 4)],
        "successes": sum(successes),
        "n_episodes": len(successes),
    }


def eval_metrics(judged: dict[str, Any]) -> dict[str, float]:
    """Return `eval/*` of what `judge` found."""
    by_task = {f"eval/success_once/{task}": entry["success_rate"] for task, entry in judged["tasks"].items()}
    return {"eval/success_once": judged["all_episodes"]["success_rate"], **by_task}
