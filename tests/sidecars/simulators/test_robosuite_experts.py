"""Experts, demonstrations and the skills cloned from them, in real robosuite."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from openral_benchmark.single_run import SimRun, simulate
from openral_core.errors import SimulationError
from openral_core.scene import BenchmarkScene, load_scene
from openral_core.suite import load_suite
from openral_data.episode import decode_png, load_shard, save_shard
from openral_rskill.registry import resolve
from openral_sim_bridge.backends.factory import make_backend
from openral_training.collect import CollectionUnit, perform
from openral_training.disturbed_expert import MAX_STEPS
from openral_training.experts.factory import open_world
from openral_training.experts.world import ExpertWorld
from openral_training.training_recipe import Recipe, load_recipe

EYES = ("observation.images.camera1", "observation.images.camera2")
TASKS = ("Lift", "Stack", "PickPlaceCan")


@pytest.fixture(scope="module", params=["panda", "sawyer"])
def recipe(request: pytest.FixtureRequest) -> Recipe:
    return load_recipe(f"mini_robosuite_{request.param}")


@pytest.fixture(scope="module", params=TASKS)
def world(request: pytest.FixtureRequest, recipe: Recipe) -> Iterator[ExpertWorld]:
    with closing(open_world(recipe, request.param)) as opened:
        yield opened


@pytest.fixture(scope="module")
def lift() -> Iterator[ExpertWorld]:
    with closing(open_world(load_recipe("mini_progress_robosuite"), "Lift")) as opened:
        yield opened


def test_an_expert_solves_its_task(world: ExpertWorld) -> None:
    [task] = world.task_ids
    solved = 0
    for init_id in range(5):
        world.reset(task, init_id)
        for _ in range(MAX_STEPS):
            world.step(world.advice())
            if world.verdicts()[task].success:
                solved += 1
                break
    assert solved >= 4


def test_a_demonstration_is_what_both_cameras_saw_of_a_success(
    world: ExpertWorld, recipe: Recipe, tmp_path: Path
) -> None:
    [task] = world.task_ids
    unit = CollectionUnit(task, 1, "noisy_expert")
    [shown] = perform(unit, recipe, 0, world)
    save_shard(tmp_path / "unit.npz", [shown])
    [episode] = load_shard(tmp_path / "unit.npz")
    assert episode.state.shape == (len(episode), 10)
    assert episode.chunk.shape == (len(episode), recipe.chunk_size, 7)
    assert np.abs(episode.chunk).max() <= 1.0
    column = recipe.task_ids.index(task)
    assert episode.success[-1].tolist() == [number == column for number in range(3)]
    first, last = ({eye: decode_png(episode.images[eye][at]) for eye in EYES} for at in (0, -1))
    for eye in EYES:
        assert first[eye].shape == (128, 128, 3)
        assert np.abs(first[eye].astype(int) - last[eye]).mean() > 2
    [again] = perform(unit, recipe, 0, world)
    assert again.images == shown.images, "the same seed gives the same bytes"


@pytest.mark.parametrize("behaviour", ["expert", "replayed", "half_done", "parked"])
def test_misses_are_filmed_for_the_judge_of_these_tasks(behaviour: str, lift: ExpertWorld) -> None:
    judged = load_recipe("mini_progress_robosuite")
    [episode] = perform(CollectionUnit("Lift", 4, behaviour), judged, 0, lift)
    assert list(episode.images) == ["observation.images.camera1"]
    assert len(episode.images["observation.images.camera1"]) == len(episode) > 10
    column = judged.task_ids.index("Lift")
    assert np.isfinite(episode.object_to_target[:, column]).all()
    assert episode.success[-1, column] == (behaviour == "expert")


def test_who_has_no_expert_says_so() -> None:
    door = load_suite("robosuite_panda").scenes[3]
    with (
        closing(make_backend(door)) as backend,
        pytest.raises(SimulationError, match="Door has no scripted expert"),
    ):
        backend.advice()  # type: ignore[attr-defined]
    joints = load_scene("robosuite_panda_joints")
    with (
        closing(make_backend(joints)) as backend,
        pytest.raises(SimulationError, match="experts move the hand"),
    ):
        backend.advice()  # type: ignore[attr-defined]


def test_the_shipped_skill_lifts() -> None:
    scene = load_scene("robosuite_panda_fast", BenchmarkScene)
    run = SimRun("Lift", scene.task.instruction, scene.seed, episodes=4, horizon=200, num_envs=2)
    rows = simulate(resolve("mini-robosuite-panda"), scene, run)
    assert sum(row.success for row in rows) >= 3
