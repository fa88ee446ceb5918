"""A policy judged at its best, on states it never learnt on: every episode a row, every rate an interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openral_core.statistics import wilson_interval
from openral_training.rl.envs.attempts import Attempt
from openral_training.rl.policies.policy import StochasticPolicy
from openral_training.rl.workers.rollout_workers import GREEDY, Players

IMAGINED = "imagined"
"""Key of what `optimism` found, where a policy learns in a world model."""


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


def optimism(
    imagined: Players, real: Players, policy: StochasticPolicy, tasks: Sequence[str], init_ids: Sequence[int]
) -> dict[str, Any]:
    """Try the same initial states in imagination and in the simulator, and return both rates and the gap.

    Args:
        imagined: let it act in a world model.
        real: let it act in the simulator.
        policy: acts greedily.
        tasks: of the run.
        init_ids: of each task; the world model must have their first frames.
    """
    dreamt, lived = (judge(players, policy, tasks, init_ids) for players in (imagined, real))
    pairs = zip(dreamt["episodes"], lived["episodes"], strict=True)
    rates = [judged["all_episodes"]["success_rate"] for judged in (dreamt, lived)]
    return {
        "imagined": dreamt["all_episodes"],
        "real": lived["all_episodes"],
        "optimism_gap": round(rates[0] - rates[1], 4),
        "same_outcome": sum(one["success"] == other["success"] for one, other in pairs),
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
    if IMAGINED in judged:
        by_task["eval/optimism_gap"] = judged[IMAGINED]["optimism_gap"]
    return {"eval/success_once": judged["all_episodes"]["success_rate"], **by_task}
