"""Films that only a reward model learns from: a skill's own attempts, and motions around a success."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from openral_data.episode import decode_png
from openral_rskill.registry import resolve
from openral_training import bc, collect
from openral_training.acting_skill import POLICY
from openral_training.appearance_shift import View
from openral_training.disturbed_expert import CORRECTION
from openral_training.experts.factory import open_world
from openral_training.experts.world import ExpertWorld
from openral_training.hard_negatives import LINGER_STEPS, LINGERING, scripts_for
from openral_training.reward_eval.rollouts import _described, planned
from openral_training.training_recipe import Recipe

TASK = "reach-v3"
ORDERS = {"train": ["reach the goal"], "heldout": ["go to the goal"]}


@pytest.fixture(scope="module")
def recipe() -> Recipe:
    held_out = {"first": 1000, "count": 2}
    return Recipe.model_validate(
        {
            "scene": "metaworld_mt10_fast",
            "cameras": ["corner2", "behindGripper"],
            "record_every": 4,
            "train_init_ids": {"first": 0, "count": 9},
            "heldout_init_ids": held_out,
            "tasks": {TASK: ORDERS},
        }
    )


@pytest.fixture(scope="module")
def world(recipe: Recipe) -> Iterator[ExpertWorld]:
    opened = open_world(recipe, TASK)
    yield opened
    opened.close()


@pytest.mark.slow
def test_a_skills_attempts_are_recorded_as_they_are(recipe: Recipe, world: ExpertWorld) -> None:
    skill = resolve("mini-metaworld-mt10").folder
    units = collect.plan(recipe, starts=1, failures=0, skills=[skill], attempts=2, filmed=3)
    filmed = [unit for unit in units if unit.behaviour == POLICY]
    assert len(filmed) == 3
    assert len([unit for unit in units if unit.behaviour == CORRECTION]) == 2
    begun = [unit.init_id for unit in units]
    assert all(begun.count(unit.init_id) == 1 for unit in filmed), "in states that nothing else begins in"
    two = collect.plan(recipe, starts=0, failures=0, skills=[skill, skill], filmed=3)
    assert len({unit.init_id for unit in two}) == 6, "each skill in its own"

    (episode,) = collect.perform(filmed[0], recipe, 0, world)

    assert (episode.behaviour, episode.init_id) == (POLICY, filmed[0].init_id)
    assert set(episode.images) == {"observation.images.camera1", "observation.images.camera2"}
    assert not episode.success[0, 0]
    assert episode.success.any(), "the skill does this task nearly always"
    assert POLICY not in bc.EXPERTS, "no policy is cloned from its own attempts"


def test_an_expert_lingers_within_and_around_the_success(recipe: Recipe, world: ExpertWorld) -> None:
    units = collect.plan(recipe, starts=0, failures=4)
    lingering = [unit for unit in units if unit.behaviour == LINGERING]
    assert len(lingering) == 2
    after, at = [], []
    for unit in lingering:
        (episode,) = collect.perform(unit, recipe, 0, world)
        first = int(np.argmax(episode.success[:, 0]))
        assert len(episode) >= first + LINGER_STEPS // recipe.record_every
        after.append(episode.success[first:, 0])
        at.append(episode.object_to_target[first:, 0])
    judged, distance_m = np.concatenate(after), np.concatenate(at)
    assert judged.any()
    assert not judged.all(), "the boundary is crossed"
    assert distance_m[judged].min() < 0.03 < 0.045 < distance_m[judged].max(), "deep within and only just"
    assert distance_m.max() < 0.4, "it stays in sight"


@pytest.mark.slow
def test_some_episodes_are_seen_in_other_lights_or_by_moved_cameras(
    recipe: Recipe, world: ExpertWorld
) -> None:
    plain = [collect.CollectionUnit(TASK, number, "wander") for number in range(500)]
    units = collect.in_other_views(plain, 0.4)
    assert [replace(unit, view=View.plain) for unit in units] == plain
    assert len({unit.name for unit in units}) == len(units)
    for view in (View.other_look, View.moved_camera):
        assert 70 < len([unit for unit in units if unit.view is view]) < 130

    views = (View.plain, View.other_look, View.moved_camera, View.plain)
    films = [collect.perform(replace(plain[0], view=view), recipe, 0, world)[0] for view in views]
    begun = [
        {camera: decode_png(pictures[0]).astype(float) for camera, pictures in film.images.items()}
        for film in films
    ]
    for camera, first in begun[0].items():
        apart = [np.abs(first - other[camera]).mean() for other in begun]
        assert apart[1] > 2, f"{camera}: other lights"
        assert apart[2] > 2, f"{camera}: it stands elsewhere"
        assert apart[3] == 0, "the next episode is seen as the scene shows it"


def test_what_is_judged_stays_the_same(recipe: Recipe) -> None:
    assert LINGERING not in scripts_for(recipe, TASK)
    assert LINGERING not in {rollout.behaviour for rollout in planned(recipe, [1000])}


def served(folder: Path, name: str) -> Path:
    """Write a skill whose weights a server elsewhere holds, which `name` tells from another one."""
    manifest = yaml.safe_load((resolve("mini-metaworld-mt10").folder / "rskill.yaml").read_text())
    del manifest["weights_uri"]
    keys = [each["vla_feature_key"] for each in manifest["sensors_required"] if "vla_feature_key" in each]
    extras = {
        "images": {key: key.rsplit(".", 1)[-1] for key in keys},
        "url": "ws://127.0.0.1:1",
        "state": {"state": 4},
        "actions": {"actions": 4},
    }
    manifest |= {"name": f"tests/rskill-{name}", "model_family": "external", "policy_extras": extras}
    (folder / name).mkdir()
    (folder / name / "rskill.yaml").write_text(yaml.safe_dump(manifest))
    return folder / name


def test_skills_on_servers_do_not_share_their_attempts(recipe: Recipe, tmp_path: Path) -> None:
    """Their weights cannot be told apart, and a file that is there is not made again."""
    skills = [served(tmp_path, "one"), served(tmp_path, "other")]
    units = collect.plan(recipe, starts=0, failures=0, skills=skills, filmed=9)
    assert len({unit.name for unit in units}) == len(units) == 18
    one, other = (_described(recipe, TASK, skill) for skill in skills)
    assert one != other
    assert one == _described(recipe, TASK, skills[0])
