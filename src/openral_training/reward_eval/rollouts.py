"""Rollouts that reward models are evaluated on: scripted behaviours and misses, rendered once and cached.

A rollout depends on the scene, the initial state, the behaviour, the seed and the versions of the simulators alone, so
its file is named by a hash of these. Any number of models are evaluated on the same rollouts.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from openral_benchmark.workers.worker_pool import worker_pool
from openral_core.errors import SimulationError
from openral_core.files.cache import cache_home, make_folder
from openral_core.manifest import MANIFEST_NAME
from openral_data.episode import Episode, load_shard, save_shard
from openral_rskill.registry import load_package
from openral_rskill.store.lockfile import sha256_of
from openral_rskill.weights_hash import weights_sha256
from openral_sim_bridge.rendering.renderer import profile
from openral_training.acting_skill import POLICY, ActingSkill, tasks_of, with_all_cameras
from openral_training.appearance_shift import View
from openral_training.disturbed_expert import demonstrate
from openral_training.experts.factory import open_world
from openral_training.experts.world import ExpertWorld
from openral_training.hard_negatives import act_out, scripts_for
from openral_training.training_recipe import Recipe

BEHAVIOURS = ("expert", "noisy_expert", "stuck", "wander")
TAKES = {"replayed": 3}
"""Rollouts of a behaviour from one initial state, where more than one: half of the replayed gestures succeed."""
FRAMES_PER_S = 10.0
"""[Hz] approximate frame rate of the monitor; the nearest rate that divides the control rate is used."""
FORMAT = 3
"""Version of the procedure that makes rollouts; after a change all of them are made again."""
SIMULATORS = ("metaworld", "mujoco", "robosuite")


@dataclass(frozen=True)
class JudgedRollout:
    """The behaviour, the task and the initial state of one rollout."""

    task_id: str
    behaviour: str
    init_id: int
    take: int = 0
    skill: Path | None = None
    """Folder of the skill that acts, where the behaviour is POLICY."""
    view: View = View.plain


def planned(
    recipe: Recipe, init_ids: Sequence[int], skills: Sequence[Path] = (), view: View = View.plain
) -> list[JudgedRollout]:
    """List every behaviour of every task from every initial state, and attempts of skills at tasks that they fit."""
    scripted = [
        JudgedRollout(task_id, behaviour, init_id, take, view=view)
        for task_id in recipe.task_ids
        for behaviour in (*BEHAVIOURS, *scripts_for(recipe, task_id))
        for init_id in init_ids
        for take in range(TAKES.get(behaviour, 1))
    ]
    attempts = [
        JudgedRollout(task_id, POLICY, init_id, skill=skill, view=view)
        for skill in skills
        for task_id in tasks_of(skill, with_all_cameras(recipe))
        for init_id in init_ids
    ]
    return scripted + attempts


def filmed(recipe: Recipe) -> Recipe:
    """Return the recipe with frames recorded at about FRAMES_PER_S alone, since rendering takes most of the time."""
    control_hz = recipe.scene_for(recipe.task_ids[0]).control_hz
    return recipe.model_copy(update={"record_every": max(1, round(control_hz / FRAMES_PER_S))})


def rollouts(
    recipe: Recipe,
    init_ids: Sequence[int],
    *,
    skills: Sequence[Path] = (),
    view: View = View.plain,
    seed: int = 1,
    workers: int = 1,
    progress: Callable[[int], None] = lambda count: None,
) -> Iterator[Episode]:
    """Yield a rollout of every behaviour, task and initial state; those that are not cached are made first.

    Disturbed experts that did not succeed are left out, since their progress cannot be ranked.

    Args:
        recipe: tasks and scenes; see `filmed` for the rate of the frames.
        init_ids: initial states.
        skills: folders of skills whose attempts are included.
        view: appearance in which the worlds are rendered.
        seed: of every disturbance.
        workers: number of processes.
        progress: called with the number of rollouts that have become ready.
    """
    recipe = filmed(recipe)
    todo = planned(recipe, init_ids, skills, view)
    worlds = {(task_id, skill): _described(recipe, task_id, skill) for task_id, skill in _worlds_of(todo)}
    files = {
        rollout: _file(worlds[rollout.task_id, rollout.skill], recipe, rollout, seed) for rollout in todo
    }
    missing = [rollout for rollout in todo if not files[rollout].is_file()]
    progress(len(todo) - len(missing))
    by_world = [[r for r in missing if (r.task_id, r.skill) == world] for world in _worlds_of(missing)]
    # Each batch is halved, so that two workers can share the last one; one alone opens each world once.
    parts = 2 if workers > 1 else 1
    batches = [batch[part::parts] for batch in by_world for part in range(min(parts, len(batch)))]
    with worker_pool(workers) as pool:
        jobs = [pool.submit(_film, recipe, batch, [files[r] for r in batch], seed) for batch in batches]
        for job in as_completed(jobs):
            progress(job.result())
    for rollout in todo:
        yield from load_shard(files[rollout])


def _worlds_of(rollouts: Sequence[JudgedRollout]) -> list[tuple[str, Path | None]]:
    """Return the task and the skill (None: scripts) of each world that workers open."""
    return list(dict.fromkeys((rollout.task_id, rollout.skill) for rollout in rollouts))


def _described(recipe: Recipe, task_id: str, skill: Path | None) -> dict[str, object]:
    """Return the part of a rollout's hashed description that all rollouts of one world share."""
    recipe = with_all_cameras(recipe) if skill else recipe
    scene = recipe.scene_for(task_id)
    return {
        "format": FORMAT,
        "scene": scene.model_dump(mode="json"),
        "look": asdict(profile(str(scene.scene.backend_options.get("render_profile", "fast")))),
        "tasks": recipe.task_ids,
        "world": recipe.world_of(task_id),
        "state_layout": recipe.state_layout,
        "record_every": recipe.record_every,
        "skill": weights_sha256(load_package(skill)) if skill else None,
        **(_acting(skill, recipe.tasks[task_id].train[0]) if skill else {}),
        "simulators": {name: _version(name) for name in SIMULATORS},
    }


def _acting(skill: Path, instruction: str) -> dict[str, str]:
    """Return what decides the attempts of a skill besides its weights: its manifest says how it acts, and where."""
    return {"instruction": instruction, "manifest": sha256_of(skill / MANIFEST_NAME)}


def _file(world: dict[str, object], recipe: Recipe, rollout: JudgedRollout, seed: int) -> Path:
    content = {
        **world,
        "rollout": [rollout.task_id, rollout.behaviour, rollout.init_id, rollout.take, seed],
        "gestures_of": [_gestures(recipe, rollout.init_id)[0], len(_gestures(recipe, rollout.init_id))],
        **({} if rollout.view is View.plain else {"view": rollout.view.value}),
        **({"turn_noise": recipe.turn_noise} if rollout.behaviour == "noisy_expert" else {}),
    }
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return cache_home() / "rollouts" / digest[:2] / f"{digest}.npz"


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _film(recipe: Recipe, batch: list[JudgedRollout], files: list[Path], seed: int) -> int:
    """Record rollouts of one task, by scripts or by one skill; return how many."""
    folder = batch[0].skill
    recipe = with_all_cameras(recipe) if folder else recipe
    with ExitStack() as opened:
        skill = opened.enter_context(closing(ActingSkill(folder))) if folder else None
        world = opened.enter_context(closing(open_world(recipe, batch[0].task_id)))
        for rollout, file in zip(batch, files, strict=True):
            try:
                made = [_perform(world, recipe, rollout, skill, seed)]
            except SimulationError:
                made = []
            save_shard(make_folder(file.parent) / file.name, made)
    return len(batch)


def _perform(
    world: ExpertWorld, recipe: Recipe, rollout: JudgedRollout, skill: ActingSkill | None, seed: int
) -> Episode:
    task_id, init_id, behaviour = rollout.task_id, rollout.init_id, rollout.behaviour
    seen_by = [seed, init_id, zlib.crc32(f"{rollout.view.value} {behaviour}".encode()), rollout.take]
    world.show(rollout.view, np.random.default_rng(seen_by))
    if skill is not None:
        return skill.recorded_attempt(world, recipe, task_id, init_id)
    if behaviour not in BEHAVIOURS:
        rng = np.random.default_rng([seed, init_id, zlib.crc32(behaviour.encode()), rollout.take])
        return act_out(world, recipe, task_id, init_id, behaviour, _gestures(recipe, init_id), rng)
    rng = np.random.default_rng([seed, init_id, BEHAVIOURS.index(behaviour)])
    world.reset(task_id, init_id)
    return demonstrate(world, recipe, task_id, init_id, 0, behaviour, rng)


def _gestures(recipe: Recipe, init_id: int) -> range:
    """Return the initial states that gestures may come from: those of calibration, or those that are held out."""
    calibrating = recipe.calibration_init_ids
    purpose = calibrating if calibrating and init_id in calibrating.ids() else recipe.heldout_init_ids
    return purpose.ids()
