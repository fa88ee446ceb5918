"""Collects demonstrations in worker processes; a killed run is resumed, and a seed always gives the same bytes."""

from __future__ import annotations

import logging
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, replace
from functools import lru_cache
from multiprocessing.util import Finalize
from pathlib import Path

import numpy as np

from openral_benchmark.workers.worker_pool import worker_pool
from openral_core.errors import SimulationError
from openral_core.manifest import MANIFEST_NAME
from openral_data.episode import Episode, load_shard, save_shard
from openral_rskill.registry import load_package
from openral_rskill.store.lockfile import sha256_of
from openral_rskill.weights_hash import weights_sha256
from openral_training.acting_skill import POLICY, ActingSkill, tasks_of
from openral_training.appearance_shift import View
from openral_training.disturbed_expert import CORRECTION, demonstrate, push_away
from openral_training.expert_corrections import corrections
from openral_training.experts.factory import open_world
from openral_training.experts.world import ExpertWorld
from openral_training.hard_negatives import LINGERING, SCRIPTS, act_out, scripts_for
from openral_training.training_recipe import Recipe

log = logging.getLogger(__name__)

ATTEMPTS = 8
"""Most seeds that are tried until the expert solves every leg of a unit."""
FAILURES = ("stuck", "wander")
"""Behaviours of `disturbed_expert.demonstrate` that fail."""
OFTEN = {"replayed": 5, "constant": 2, "long_wander": 2, "half_done": 3, "undone": 2, "parked": 3}
"""Episodes of a behaviour for each one of the others; these mislead a reward model that attends to the arm alone."""


FAILURES_FOR_LINGERING = 2
"""Failures for each episode that goes on around the success."""


@dataclass(frozen=True)
class CollectionUnit:
    """One reset and the legs that follow it."""

    task_id: str
    init_id: int
    behaviour: str
    """expert, noisy_expert, correction, policy, or one of FAILURES or of `openral_training.hard_negatives.SCRIPTS`."""
    skill: Path | None = None
    """Folder of the skill whose attempt is corrected or recorded."""
    weights: str = ""
    """Hash of that skill's weights, or of its manifest where a server elsewhere holds them."""
    view: View = View.plain
    """How its world is seen."""

    @property
    def name(self) -> str:
        """The stem of the unit's shard."""
        of = f"-{self.weights[:8]}" if self.weights else ""
        seen = "" if self.view is View.plain else f".{self.view.value}"
        return f"{self.task_id}.{self.init_id:04d}.{self.behaviour}{of}{seen}"


def plan(
    recipe: Recipe,
    starts: int,
    failures: int,
    skills: Sequence[Path] = (),
    attempts: int = 0,
    filmed: int = 0,
    tasks: Collection[str] = (),
) -> list[CollectionUnit]:
    """List the units of a collection, each once; a warning says how many of those asked for are the same as others.

    Args:
        recipe: scenes, tasks and initial states of training.
        starts: resets for each task, see `legs_of`; twice as many where a scene has one task.
        failures: resets for each task with behaviours that fail, for the reward model; half as many go on around the
            success.
        skills: folders of skills that attempt the tasks.
        attempts: of each skill, for each task, of which experts correct those that fail; they begin in other states
            than the experts as long as there are any.
        filmed: attempts of each skill, for each task, that are recorded as they are; they begin in further states.
        tasks: those of the recipe that are included; empty: all.

    Raises:
        NotFoundError: the recipe has no such task.
    """
    recipe.require_tasks(tasks)
    ids = recipe.train_init_ids.ids()
    attempting = [
        (
            skill,
            weights_sha256(load_package(skill)) or sha256_of(skill / MANIFEST_NAME),
            tasks_of(skill, recipe),
        )
        for skill in skills
    ]
    units: list[CollectionUnit] = []
    for world in recipe.worlds:
        for task_id in world:
            if tasks and task_id not in tasks:
                continue
            count = starts if len(world) > 1 else 2 * starts
            for number in range(count):
                behaviour = "expert" if number % 3 == 0 else "noisy_expert"
                units.append(CollectionUnit(task_id, ids[number % len(ids)], behaviour))
            known = (*FAILURES, *scripts_for(recipe, task_id))
            behaviours = [name for name in known for _ in range(OFTEN.get(name, 1))]
            for number in range(failures):
                behaviour = behaviours[number % len(behaviours)]
                units.append(CollectionUnit(task_id, ids[-1 - number % len(ids)], behaviour))
            for number in range(failures // FAILURES_FOR_LINGERING):
                units.append(CollectionUnit(task_id, ids[(len(ids) // 2 + number) % len(ids)], LINGERING))
            begun = count
            for skill, weights, fitting in attempting:
                for number in range(attempts + filmed if task_id in fitting else 0):
                    behaviour, init_id = CORRECTION if number < attempts else POLICY, ids[begun % len(ids)]
                    units.append(CollectionUnit(task_id, init_id, behaviour, skill, weights))
                    begun += 1
    found = list(dict.fromkeys(units))
    if len(found) < len(units):
        log.warning(
            "%d of %d units would be the same episodes as others, so %d are collected: train_init_ids of the recipe "
            "are %s; give it more states, or ask for fewer episodes",
            len(units) - len(found),
            len(units),
            len(found),
            recipe.train_init_ids,
        )
    return found


def in_other_views(units: Sequence[CollectionUnit], share: float) -> list[CollectionUnit]:
    """Return units, a share of which is not seen as the scene shows: half in other lights, half by moved cameras.

    The hash of a unit's name chooses, so that the choice favours no task and no behaviour.
    """
    found = []
    for unit in units:
        place = zlib.crc32(f"view of {unit.name}".encode()) / 2**32
        view = View.other_look if place < share / 2 else View.moved_camera if place < share else View.plain
        found.append(replace(unit, view=view))
    return found


def legs_of(unit: CollectionUnit, recipe: Recipe) -> list[str]:
    """Return the tasks of a unit's legs, one after the other in the same world.

    In a scene of two tasks an expert's first leg is the other task, which is done already after a reset. Then follow
    its own task, the other one, and the other one again, which is done by then.
    """
    others = [task for task in recipe.world_of(unit.task_id) if task != unit.task_id]
    if unit.behaviour in (*FAILURES, *SCRIPTS) or not others:
        return [unit.task_id]
    return [others[0], unit.task_id, others[0], others[0]]


def perform(unit: CollectionUnit, recipe: Recipe, seed: int, world: ExpertWorld) -> list[Episode]:
    """Run one unit and return its legs; none where the expert succeeded with none of ATTEMPTS seeds.

    Raises:
        SimulationError: the simulator has no such view.
    """
    world.show(unit.view, np.random.default_rng([seed, zlib.crc32(f"view of {unit.name}".encode())]))
    for attempt in range(ATTEMPTS if unit.behaviour != "expert" else 1):
        key = [seed, zlib.crc32(unit.name.encode()), attempt]
        try:
            if unit.skill is not None and unit.behaviour == POLICY:
                skill = _acting(unit.skill)
                return [skill.recorded_attempt(world, recipe, unit.task_id, unit.init_id)]
            if unit.skill is not None:
                rng = np.random.default_rng(key)
                return corrections(world, recipe, unit.task_id, unit.init_id, _acting(unit.skill), rng)
            if unit.behaviour in SCRIPTS:
                return [_miss(unit, recipe, world, key)]
            # Rendering is the slowest part, so the legs are run again with it once the expert has succeeded.
            _legs(unit, recipe, world, key, look=False)
        except SimulationError as error:
            log.info("%s: attempt %d: %s", unit.name, attempt, error)
            continue
        return _legs(unit, recipe, world, key, look=True)
    return []


@lru_cache(maxsize=1)
def _acting(skill: Path) -> ActingSkill:
    """Return a skill, loaded once in each worker process."""
    return ActingSkill(skill)


def _miss(unit: CollectionUnit, recipe: Recipe, world: ExpertWorld, key: list[int]) -> Episode:
    rng, pool = np.random.default_rng(key), recipe.train_init_ids.ids()
    return act_out(world, recipe, unit.task_id, unit.init_id, unit.behaviour, pool, rng)


def _legs(
    unit: CollectionUnit, recipe: Recipe, world: ExpertWorld, key: list[int], *, look: bool
) -> list[Episode]:
    rng = np.random.default_rng(key)
    world.reset(unit.task_id, unit.init_id)
    legs: list[Episode] = []
    for leg, task_id in enumerate(legs_of(unit, recipe)):
        if unit.behaviour != "expert" and rng.random() < 0.6:
            world.begin(task_id)
            push_away(world, rng)
        legs.append(demonstrate(world, recipe, task_id, unit.init_id, leg, unit.behaviour, rng, look))
    return legs


def collect(
    recipe: Recipe,
    shards: Path,
    units: list[CollectionUnit],
    *,
    seed: int = 0,
    workers: int = 1,
    progress: Callable[[CollectionUnit, int], None] = lambda unit, frames: None,
) -> Iterator[Path]:
    """Run every unit that has no shard yet; yield the paths of all shards in the order of `units`.

    Args:
        recipe: scenes and tasks.
        shards: folder of the shards; existing ones are kept.
        units: as `plan` returns them.
        seed: of every disturbance.
        workers: number of processes.
        progress: called after each unit with its number of frames, 0 if its shard existed.
    """
    shards.mkdir(parents=True, exist_ok=True)
    missing = [unit for unit in units if not (shards / f"{unit.name}.npz").is_file()]
    for unit in units:
        if unit not in missing:
            progress(unit, 0)
    # A worker keeps one simulator open, so it gets units of one scene in a row.
    batches = [missing[i : i + 8] for i in range(0, len(missing), 8)]
    with worker_pool(workers) as pool:
        jobs = [pool.submit(_perform_batch, batch, recipe, seed, shards) for batch in batches]
        for job in as_completed(jobs):
            for unit, frames in job.result():
                progress(unit, frames)
    yield from (shards / f"{unit.name}.npz" for unit in units)


_worlds: dict[tuple[str, ...], ExpertWorld] = {}
"""The world that this worker process has open, by its tasks."""


def _perform_batch(
    batch: list[CollectionUnit], recipe: Recipe, seed: int, shards: Path
) -> list[tuple[CollectionUnit, int]]:
    done: list[tuple[CollectionUnit, int]] = []
    for unit in batch:
        tasks = recipe.world_of(unit.task_id)
        if tasks not in _worlds:
            _close_worlds()
            _worlds[tasks] = open_world(recipe, unit.task_id)
        legs = perform(unit, recipe, seed, _worlds[tasks])
        save_shard(shards / f"{unit.name}.npz", legs)
        done.append((unit, sum(len(leg) for leg in legs)))
    return done


def _close_worlds() -> None:
    while _worlds:
        _worlds.popitem()[1].close()


# `atexit` does not run in worker processes, but this does; an OpenGL context that is still open at exit prints errors.
Finalize(None, _close_worlds, exitpriority=1)


def read(shards: list[Path]) -> Iterator[Episode]:
    """Yield the episodes of shards, one shard in memory at a time."""
    for path in shards:
        yield from load_shard(path)
