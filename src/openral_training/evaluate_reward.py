"""Judge a reward model on rollouts that it never saw: does it rank time, and does it tell success from failure?

VOC is the rank correlation of predicted progress with time on successful rollouts (GVL, Ma et al. 2024,
arXiv 2411.04549). AUROC compares the success head on the last frame with the simulator's verdict on that frame,
over successes, disturbed, stuck, wandering and reversed rollouts, and rollouts under the words of another task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import as_completed
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from openral_core.errors import SimulationError
from openral_core.registry import RSkillPackage
from openral_core.statistics import auroc, spearman, wilson_interval
from openral_reward_monitor.models import RewardModel, load_reward_model
from openral_training.dataset.episode import Episode, decode_png
from openral_training.demonstrations import demonstrate
from openral_training.experts.world import open_world
from openral_training.recipe import Recipe
from openral_training.workers import worker_pool

BEHAVIOURS = ("expert", "noisy_expert", "stuck", "wander")
STRIDE = 8
"""Every eighth frame is scored: 10 Hz, the rate at which the monitor keeps frames."""


@dataclass(frozen=True)
class RewardRow:
    """One rollout under one sentence."""

    task: str
    """The task the words ask for."""
    acted: str
    """The task that was acted out."""
    behaviour: str
    """expert, noisy_expert, stuck, wander, or reversed: an expert's frames played backwards."""
    init_id: int
    instruction: str
    truth: bool
    """The simulator's verdict on the last frame, for the task of the words."""
    success: float
    """The success head on the last frame."""
    progress: float
    """The progress head on the last frame."""
    voc: float | None
    """Rank correlation of progress with time up to the first success; on experts' rollouts of their own task."""


@dataclass(frozen=True)
class _Rollout:
    task_id: str
    behaviour: str
    init_id: int


def evaluate(
    package: RSkillPackage, recipe: Recipe, *, rollouts: int = 10, seed: int = 1, device: str = "cpu", workers: int = 1,
    progress: Callable[[int], None] = lambda rollouts: None,
) -> list[RewardRow]:  # fmt: skip
    """Collect rollouts on held-out initial states, score them under held-out words, and return a row for each.

    Args:
        package: a skill of kind reward.
        recipe: scenes, held-out initial states and held-out words.
        rollouts: initial states for each task and behaviour.
        seed: of every disturbance.
        device: where the model runs.
        workers: processes that roll out.
        progress: called after each rollout with 1.
    """
    model = load_reward_model(package, device)
    ids = list(recipe.heldout_init_ids.ids())[:rollouts]
    todo = [
        _Rollout(task_id, behaviour, init_id)
        for task_id in recipe.task_ids
        for behaviour in BEHAVIOURS
        for init_id in ids
    ]
    rows: list[RewardRow] = []
    with worker_pool(workers) as pool:
        jobs = [
            pool.submit(_roll_out, todo[i : i + len(ids)], recipe, seed)
            for i in range(0, len(todo), len(ids))
        ]
        for job in as_completed(jobs):
            for episode in job.result():
                rows += [_score(model, recipe, *case) for case in _cases(episode, recipe)]
                progress(1)
    return sorted(rows, key=lambda row: (row.task, row.acted, row.behaviour, row.init_id))


def _roll_out(todo: list[_Rollout], recipe: Recipe, seed: int) -> list[Episode]:
    world = open_world(recipe, todo[0].task_id)
    episodes = []
    for job in todo:
        rng = np.random.default_rng([seed, job.init_id, BEHAVIOURS.index(job.behaviour)])
        world.reset(job.task_id, job.init_id)
        try:
            episodes.append(demonstrate(world, recipe, job.task_id, job.init_id, 0, job.behaviour, rng))
        except SimulationError:
            # An expert that was disturbed too much: nothing that a success could be ranked on.
            continue
    world.close()
    return episodes


def _cases(episode: Episode, recipe: Recipe) -> Iterator[tuple[Episode, str]]:
    """Yield each rollout with the task whose words it is shown under."""
    yield episode, episode.task_id
    for other in recipe.world_of(episode.task_id):
        if other != episode.task_id and episode.behaviour == "expert":
            yield episode, other
    if episode.behaviour == "expert":
        yield _reversed(episode), episode.task_id


def _reversed(episode: Episode) -> Episode:
    return replace(
        episode,
        behaviour="reversed",
        images={key: images[::-1] for key, images in episode.images.items()},
        success=episode.success[::-1],
        state=episode.state[::-1],
    )


def _score(model: RewardModel, recipe: Recipe, episode: Episode, task_id: str) -> RewardRow:
    column = recipe.task_ids.index(task_id)
    pool = recipe.tasks[task_id].heldout
    instruction = pool[episode.init_id % len(pool)]
    last = len(episode) - 1
    picked = np.arange(last, -1, -STRIDE)[::-1]
    images = next(iter(episode.images.values()))
    frames = np.stack([decode_png(images[i]) for i in picked])
    scores = model.score(frames, instruction)
    solved = np.flatnonzero(episode.success[:, column])
    voc = None
    if episode.behaviour in ("expert", "noisy_expert") and task_id == episode.task_id:
        until = picked <= solved[0] + STRIDE
        voc = round(spearman(scores.progress[until].astype(np.float64), picked[until].astype(np.float64)), 4)
    return RewardRow(
        task_id, episode.task_id, episode.behaviour, episode.init_id, instruction,
        bool(episode.success[last, column]), round(float(scores.success[-1]), 4),
        round(float(scores.progress[-1]), 4), voc,
    )  # fmt: skip


def report(rows: list[RewardRow], threshold: float) -> dict[str, Any]:
    """Return the `results` block of the eval JSON.

    Args:
        rows: what `evaluate` returned.
        threshold: at or above it on both heads a reading counts as success, as in the manifest.
    """
    good, bad = [row for row in rows if row.truth], [row for row in rows if not row.truth]
    vocs = [row.voc for row in rows if row.voc is not None]
    said = [row for row in bad if row.success >= threshold and row.progress >= threshold]
    missed = [row for row in good if row.success < threshold or row.progress < threshold]
    return {
        "voc_mean": round(float(np.mean(vocs)), 4),
        "voc_min": round(float(np.min(vocs)), 4),
        "voc_rollouts": len(vocs),
        "auroc": round(auroc([row.success for row in good], [row.success for row in bad]), 4),
        "successes": len(good),
        "failures": len(bad),
        "threshold": threshold,
        "false_success": _share(len(said), len(bad)),
        "missed_success": _share(len(missed), len(good)),
        "rollouts": [asdict(row) for row in rows],
    }


def _share(count: int, of: int) -> dict[str, Any]:
    return {
        "rate": round(count / of, 4),
        "wilson_95": [round(x, 4) for x in wilson_interval(count, of)],
        "count": count,
    }
