"""Judge a policy on initial states and words that it never met, through the adapters of the deployment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openral_core.action_adapter import ActionAdapter
from openral_core.observation_adapter import ObservationAdapter
from openral_core.registry import RSkillPackage, load_package
from openral_core.statistics import wilson_interval
from openral_policy_nodes.families import load_policy
from openral_sim_bridge.factory import make_backend
from openral_sim_bridge.rollout import EpisodeRow, Job, roll_out
from openral_training.recipe import Recipe
from openral_training.workers import worker_pool

WORDS = ("plain", "heldout")


@dataclass(frozen=True)
class Trial:
    """One set of episodes: a task under one kind of words."""

    task_id: str
    words: str
    """plain: the first training sentence; heldout: paraphrases never used in training, in turn."""
    jobs: tuple[Job, ...]


def plan(recipe: Recipe, episodes: int, words: Sequence[str] = WORDS) -> list[Trial]:
    """List the trials: `episodes` held-out initial states for each task and kind of words."""
    trials: list[Trial] = []
    ids = list(recipe.heldout_init_ids.ids())[:episodes]
    for task_id, sentences in recipe.tasks.items():
        for kind in words:
            pool = sentences.train[:1] if kind == "plain" else sentences.heldout
            jobs = tuple(Job(task_id, init_id, pool[i % len(pool)]) for i, init_id in enumerate(ids))
            trials.append(Trial(task_id, kind, jobs))
    return trials


def evaluate(
    package: RSkillPackage, recipe: Recipe, trials: Sequence[Trial], *, num_envs: int = 5, device: str = "cpu",
    workers: int = 1, progress: Callable[[EpisodeRow], None] = lambda row: None,
) -> list[tuple[Trial, list[EpisodeRow]]]:  # fmt: skip
    """Run trials; the rows do not depend on the number of workers.

    Args:
        package: the skill.
        recipe: where each task is done and how long an episode may take.
        trials: what `plan` listed.
        num_envs: worlds stepped together in each process.
        device: where the policy infers.
        workers: processes; each runs whole trials.
        progress: called with each finished row, trial by trial.
    """
    results: dict[Trial, list[EpisodeRow]] = {}
    with worker_pool(workers) as pool:
        jobs = {pool.submit(_run, package.folder, recipe, trial, num_envs, device): trial for trial in trials}
        for job in as_completed(jobs):
            results[jobs[job]] = job.result()
            for row in job.result():
                progress(row)
    return [(trial, results[trial]) for trial in trials]


def _run(folder: Path, recipe: Recipe, trial: Trial, num_envs: int, device: str) -> list[EpisodeRow]:
    package, scene = load_package(folder), recipe.scene_for(trial.task_id)
    observe, act = ObservationAdapter(package.manifest, scene), ActionAdapter(package.manifest, scene)
    policy = load_policy(package, device)
    backend = make_backend(scene, num_envs=min(num_envs, len(trial.jobs)))
    try:
        return roll_out(
            backend, policy, observe, act, trial.jobs, cameras=[camera.name for camera in observe.cameras],
            n_action_steps=package.manifest.replay_steps, horizon=recipe.horizon,
        )  # fmt: skip
    finally:
        backend.close()
        policy.close()


def report(results: Sequence[tuple[Trial, list[EpisodeRow]]]) -> dict[str, Any]:
    """Return the `results` block of the eval JSON: rates with Wilson intervals, and every episode."""
    content: dict[str, Any] = {}
    for words in WORDS:
        chosen = [(trial, rows) for trial, rows in results if trial.words == words]
        if not chosen:
            continue
        table = {trial.task_id: _rate(rows) for trial, rows in chosen}
        rates = [entry["success_rate"] for entry in table.values()]
        content[f"{words}_words"] = {
            "avg_success_rate": round(sum(rates) / len(rates), 4),
            "all_episodes": _rate([row for _, rows in chosen for row in rows]),
            "tasks": table,
        }
    episodes = [{"words": trial.words, **row.record()} for trial, rows in results for row in rows]
    return {**content, "episodes": episodes}


def _rate(rows: Sequence[EpisodeRow]) -> dict[str, Any]:
    successes = sum(row.success for row in rows)
    low, high = wilson_interval(successes, len(rows))
    return {
        "success_rate": round(successes / len(rows), 4),
        "wilson_95": [round(low, 4), round(high, 4)],
        "successes": successes,
        "n_episodes": len(rows),
    }
