"""Rollouts to judge reward models on: scripted behaviours, filmed once and kept by content.

A rollout depends on the scene, the initial state, the behaviour, the seed and the simulator's version, and on nothing
else, so that its file is named by a hash of these. Any number of models are judged on the same films.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from openral_benchmark.workers.parent_watch import worker_pool
from openral_core.errors import SimulationError
from openral_core.files.cache import cache_home, make_folder
from openral_data.episode import Episode, load_shard, save_shard
from openral_sim_bridge.rendering.renderer import profile
from openral_training.demonstrations import demonstrate
from openral_training.experts.factory import open_world
from openral_training.recipe import Recipe

BEHAVIOURS = ("expert", "noisy_expert", "stuck", "wander")
FRAMES_PER_S = 10.0
"""[Hz] about the rate at which the monitor keeps frames; the nearest one that divides the control rate is used."""
FORMAT = 1
"""Changes when the way in which rollouts are made does."""
SIMULATORS = ("metaworld", "mujoco", "robosuite")


@dataclass(frozen=True)
class JudgedRollout:
    """Who does what from where."""

    task_id: str
    behaviour: str
    init_id: int


def filmed(recipe: Recipe) -> Recipe:
    """Return the recipe with frames recorded at about FRAMES_PER_S only, since pictures cost most."""
    control_hz = recipe.scene_for(recipe.task_ids[0]).control_hz
    return recipe.model_copy(update={"record_every": max(1, round(control_hz / FRAMES_PER_S))})


def rollouts(
    recipe: Recipe,
    init_ids: Sequence[int],
    *,
    seed: int = 1,
    workers: int = 1,
    progress: Callable[[int], None] = lambda count: None,
) -> Iterator[Episode]:
    """Yield every behaviour of every task from every initial state; what is not in the cache is made first.

    A disturbed expert that did not succeed is left out: there is nothing a success could be ranked on.

    Args:
        recipe: tasks and scenes; see `filmed` for the rate of the frames.
        init_ids: initial states.
        seed: of every disturbance.
        workers: processes that roll out.
        progress: called with the number of rollouts that have become ready.
    """
    recipe = filmed(recipe)
    todo = [
        JudgedRollout(task_id, behaviour, init_id)
        for task_id in recipe.task_ids
        for behaviour in BEHAVIOURS
        for init_id in init_ids
    ]
    files = {rollout: _file(recipe, rollout, seed) for rollout in todo}
    missing = [rollout for rollout in todo if not files[rollout].is_file()]
    progress(len(todo) - len(missing))
    by_task = [[r for r in missing if r.task_id == task_id] for task_id in recipe.task_ids]
    # Halves, so that the last task does not keep one worker alone.
    batches = [part for batch in by_task for part in (batch[::2], batch[1::2]) if part]
    with worker_pool(workers) as pool:
        jobs = [pool.submit(_film, recipe, batch, [files[r] for r in batch], seed) for batch in batches]
        for job in as_completed(jobs):
            progress(job.result())
    for rollout in todo:
        yield from load_shard(files[rollout])


def _file(recipe: Recipe, rollout: JudgedRollout, seed: int) -> Path:
    scene = recipe.scene_for(rollout.task_id)
    content = {
        "format": FORMAT,
        "scene": scene.model_dump(mode="json"),
        "look": asdict(profile(str(scene.scene.backend_options.get("render_profile", "fast")))),
        "tasks": recipe.task_ids,
        "world": recipe.world_of(rollout.task_id),
        "state_layout": recipe.state_layout,
        "record_every": recipe.record_every,
        "rollout": [rollout.task_id, rollout.behaviour, rollout.init_id, seed],
        "simulators": {name: _version(name) for name in SIMULATORS},
    }
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return cache_home() / "rollouts" / digest[:2] / f"{digest}.npz"


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _film(recipe: Recipe, batch: list[JudgedRollout], files: list[Path], seed: int) -> int:
    """Make rollouts of one task; return how many."""
    world = open_world(recipe, batch[0].task_id)
    try:
        for rollout, file in zip(batch, files, strict=True):
            rng = np.random.default_rng([seed, rollout.init_id, BEHAVIOURS.index(rollout.behaviour)])
            world.reset(rollout.task_id, rollout.init_id)
            try:
                made = [
                    demonstrate(world, recipe, rollout.task_id, rollout.init_id, 0, rollout.behaviour, rng)
                ]
            except SimulationError:
                made = []
            save_shard(make_folder(file.parent) / file.name, made)
    finally:
        world.close()
    return len(batch)
