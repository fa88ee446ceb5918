"""How worlds are shown to a judge otherwise than in training, and which tasks a skill is filmed at."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

from openral_core.errors import SimulationError
from openral_rskill.registry import resolve
from openral_training.acting_skill import tasks_of, with_all_cameras
from openral_training.appearance_shift import CAMERA_OFF_M, View
from openral_training.experts.factory import open_world
from openral_training.experts.world import ExpertWorld
from openral_training.reward_commands import app
from openral_training.training_recipe import Recipe, load_recipe

BUTTON = {
    "train_init_ids": {"first": 0, "count": 2},
    "heldout_init_ids": {"first": 1000, "count": 2},
    "tasks": {
        "button-press-topdown-v3": {
            "scene": "metaworld_button",
            "train": ["press the button"],
            "heldout": ["push that button down"],
        }
    },
}
KEY = "observation.images.camera1"


@pytest.fixture(scope="module")
def world() -> Iterator[ExpertWorld]:
    world = open_world(Recipe.model_validate(BUTTON), "button-press-topdown-v3")
    yield world
    world.close()


def shown(world: ExpertWorld, view: View, seed: int) -> np.ndarray:
    """The first picture of a state in a view."""
    world.show(view, np.random.default_rng(seed))
    world.reset("button-press-topdown-v3", 3)
    return world.images()[KEY].astype(int)


def test_each_view_is_drawn_anew_and_the_plain_one_comes_back(world: ExpertWorld):
    plain = shown(world, View.plain, 0)
    for view in (View.other_look, View.moved_camera):
        first, second, again = (shown(world, view, seed) for seed in (1, 2, 1))
        assert np.abs(first - plain).mean() > 1.0
        assert np.abs(first - second).mean() > 1.0
        assert np.array_equal(first, again)
        assert np.array_equal(shown(world, View.plain, 3), plain)


def test_a_moved_camera_stands_three_centimetres_off(world: ExpertWorld):
    backend = world._backend  # type: ignore[attr-defined]
    shown(world, View.plain, 0)
    before = backend.camera("corner2").position
    shown(world, View.moved_camera, 5)
    assert np.linalg.norm(backend.camera("corner2").position - before) == pytest.approx(CAMERA_OFF_M)


def test_a_skill_is_filmed_at_the_tasks_whose_scenes_have_its_cameras():
    recipe = load_recipe("mini_progress_mt10")
    two_cameras = ["reach-v3", "push-v3", "pick-place-v3", "door-open-v3", "peg-insert-side-v3"]
    assert tasks_of(resolve("mini-metaworld-mt10").folder, with_all_cameras(recipe)) == two_cameras
    one_camera = tasks_of(resolve("mini-metaworld").folder, with_all_cameras(recipe))
    assert set(load_recipe("mini_metaworld").task_ids) <= set(one_camera)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_reward_eval_says_in_its_result_how_the_worlds_were_seen(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("OPENRAL_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("openral_training.reward_eval.rollouts.BEHAVIOURS", ("expert", "stuck"))
    monkeypatch.setattr("openral_training.reward_eval.rollouts.scripts_for", lambda recipe, task: ())
    (tmp_path / "button.yaml").write_text(yaml.safe_dump(BUTTON))
    skill = tmp_path / "mini-progress"
    shutil.copytree(resolve("mini-progress").folder, skill, ignore=shutil.ignore_patterns("eval"))
    command = ["eval", "--rskill", str(skill), "--recipe", str(tmp_path / "button.yaml"), "--episodes", "1"]
    out = tmp_path / "moved.json"
    done = CliRunner().invoke(
        app, [*command, "--view", "moved-camera", "--out", str(out), "--update-manifest"]
    )
    assert done.exit_code == 0, (done.output, done.exception)
    content = json.loads(out.read_text())
    assert "the camera 3 cm off" in content["benchmark"]["deviations"]
    assert json.loads((skill / "eval" / "button.moved-camera.json").read_text()) == content
    looked = content["results"]["second_look"]
    assert looked["with"]["called_done"]["of"] == content["results"]["failures"]
    assert looked["with"]["called_done"]["count"] <= looked["without"]["called_done"]["count"]


def test_a_simulator_that_draws_elsewhere_has_the_plain_view_alone():
    from openral_training.experts.robosuite import RobosuiteExperts

    elsewhere = RobosuiteExperts.__new__(RobosuiteExperts)
    elsewhere.show(View.plain, np.random.default_rng(0))
    with pytest.raises(SimulationError, match=r"view 'other-look'.*plain"):
        elsewhere.show(View.other_look, np.random.default_rng(0))
