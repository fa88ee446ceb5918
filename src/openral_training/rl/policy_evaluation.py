"""Greedy evaluation of a policy: success rates with Wilson intervals, and one row per episode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openral_core.statistics import wilson_interval
from openral_training.rl.envs.episode_trajectory import EpisodeRequest
from openral_training.rl.policies.policy import StochasticPolicy
from openral_training.rl.workers.rollout_workers import GREEDY, RolloutWorkers

IMAGINED = "imagined"
"""Key of the result of `imagination_gap`, where a policy is trained in a world model."""


def evaluate_policy(
    workers: RolloutWorkers, policy: StochasticPolicy, tasks: Sequence[str], init_ids: Sequence[int]
) -> dict[str, Any]:
    """Run each task once from each initial state, greedily, and return rates and rows.

    Args:
        workers: run episodes.
        policy: acts greedily.
        tasks: of the run.
        init_ids: of each task.
    """
    requests = [EpisodeRequest(task, init_id, (0,)) for task in tasks for init_id in init_ids]
    trajectories = workers.rollout(policy, requests, GREEDY)
    rows = [
        {"task": t.request.task, "init_id": t.request.init_id, "success": t.success, "steps": t.steps}
        for t in trajectories
    ]
    return {
        "all_episodes": rate([t.success for t in trajectories]),
        "tasks": {task: rate([t.success for t in trajectories if t.request.task == task]) for task in tasks},
        "episodes": rows,
    }


def imagination_gap(
    imagined: RolloutWorkers,
    real: RolloutWorkers,
    policy: StochasticPolicy,
    tasks: Sequence[str],
    init_ids: Sequence[int],
) -> dict[str, Any]:
    """Run the same initial states in a world model and in the simulator, and return both rates and the gap.

    Args:
        imagined: run episodes in a world model.
        real: run episodes in the simulator.
        policy: acts greedily.
        tasks: of the run.
        init_ids: of each task; the world model must have their first frames.
    """
    in_model = evaluate_policy(imagined, policy, tasks, init_ids)
    simulated = evaluate_policy(real, policy, tasks, init_ids)
    pairs = zip(in_model["episodes"], simulated["episodes"], strict=True)
    rates = [evaluation["all_episodes"]["success_rate"] for evaluation in (in_model, simulated)]
    return {
        "imagined": in_model["all_episodes"],
        "real": simulated["all_episodes"],
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


def eval_metrics(evaluation: dict[str, Any]) -> dict[str, float]:
    """Return the metrics `eval/*` for a result of `evaluate_policy`."""
    by_task = {
        f"eval/success_once/{task}": entry["success_rate"] for task, entry in evaluation["tasks"].items()
    }
    if IMAGINED in evaluation:
        by_task["eval/optimism_gap"] = evaluation[IMAGINED]["optimism_gap"]
    return {"eval/success_once": evaluation["all_episodes"]["success_rate"], **by_task}
