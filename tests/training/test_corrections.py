"""An expert takes over where a policy failed, in the real simulator."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from openral_core.errors import ContractError
from openral_core.types import PolicyBatch, RobotState
from openral_policy_nodes.families.mini.network import MiniConfig, MiniNetwork
from openral_rskill.mini.checkpoint import load_network, save_network
from openral_rskill.registry import resolve
from openral_training import bc, collect
from openral_training.acting_skill import ActingSkill, Delays, require_fit
from openral_training.disturbed_expert import CORRECTION
from openral_training.experts.factory import open_world
from openral_training.experts.world import ExpertWorld
from openral_training.training_recipe import Recipe, load_recipe

TASK = "drawer-open-v3"


@pytest.fixture(scope="module")
def recipe() -> Recipe:
    words = {"scene": "metaworld_drawer", "train": ["open the drawer"], "heldout": ["pull it open"]}
    held_out = {"first": 1000, "count": 2}
    return Recipe.model_validate(
        {"train_init_ids": {"first": 0, "count": 9}, "heldout_init_ids": held_out, "tasks": {TASK: words}}
    )


@pytest.fixture(scope="module")
def world(recipe: Recipe) -> Iterator[ExpertWorld]:
    opened = open_world(recipe, TASK)
    yield opened
    opened.close()


@pytest.fixture
def untrained(tmp_path: Path) -> Path:
    """Folder of a skill whose network has learned nothing."""
    folder = tmp_path / "untrained"
    shutil.copytree(resolve("mini-metaworld").folder, folder)
    config = load_network(folder, lambda **fields: MiniNetwork(MiniConfig(**fields))).config
    torch.manual_seed(0)
    save_network(MiniNetwork(config), config, folder, {})
    return folder


def correcting(skill: Path, recipe: Recipe) -> list[collect.CollectionUnit]:
    units = collect.plan(recipe, starts=1, failures=0, skills=[skill], attempts=1)
    return [unit for unit in units if unit.behaviour == CORRECTION]


def test_a_failed_attempt_is_taken_over_twice_and_ends_in_success(
    untrained: Path, recipe: Recipe, world: ExpertWorld
) -> None:
    (unit,) = correcting(untrained, recipe)
    episodes = collect.perform(unit, recipe, 0, world)
    assert [(episode.behaviour, episode.leg) for episode in episodes] == [(CORRECTION, 0), (CORRECTION, 1)]
    world.reset(TASK, unit.init_id)
    begin = world.robot_state().ee_position
    for episode in episodes:
        assert np.abs(episode.state[0, :3] - begin).max() > 0.003, "the policy moved the hand before"
        assert np.abs(episode.chunk[0, 0, :3]).max() > 0.1, "the expert moves from there at once"
        assert not episode.success[0, 0]
        assert episode.success[-1, 0]
    assert CORRECTION in bc.EXPERTS


def test_an_attempt_that_succeeds_is_left_out(recipe: Recipe, world: ExpertWorld) -> None:
    (unit,) = correcting(resolve("mini-metaworld").folder, recipe)
    assert collect.perform(unit, recipe, 0, world) == []


def test_attempts_begin_where_no_demonstration_does_and_shards_name_the_weights(
    untrained: Path, recipe: Recipe
) -> None:
    units = collect.plan(recipe, starts=2, failures=0, skills=[untrained], attempts=3)
    begun = {unit.init_id for unit in units if unit.behaviour != CORRECTION}
    attempts = [unit for unit in units if unit.behaviour == CORRECTION]
    assert len(attempts) == 3
    assert not begun & {unit.init_id for unit in attempts}
    (other, *_) = correcting(resolve("mini-metaworld").folder, recipe)
    assert attempts[0].name != other.name


def test_a_skill_that_cannot_see_the_scene_is_told_so(recipe: Recipe) -> None:
    with pytest.raises(ContractError, match="camera"):
        require_fit(resolve("mini-metaworld-mt50").folder, recipe)
    require_fit(resolve("mini-metaworld-mt50").folder, load_recipe("mini_metaworld_mt50"))


class Still:
    """A world whose hand does not move, and which shows by a shade of grey how often it has been looked at."""

    def __init__(self, world: ExpertWorld) -> None:
        self._state, self._shapes, self.looks = world.robot_state(), world.images(), 0

    def robot_state(self) -> RobotState:
        return self._state

    def images(self) -> dict[str, np.ndarray]:
        self.looks += 1
        return {name: np.full_like(image, self.looks) for name, image in self._shapes.items()}


@pytest.mark.parametrize(
    ("delays", "shown", "first"),
    [
        (Delays(), [1, 2, 3, 4, 5], [0, 0, 0, 0, 0]),
        (Delays(pictures=8), [1, 1, 1, 2, 3], [0, 0, 0, 0, 0]),
        (Delays(answers=8), [1, 1, 1, 2, 3], [0, 4, 8, 8, 8]),
        (Delays(answers=99), [1, 1, 1, 1, 2], [0, 4, 8, 12, 12]),
    ],
)
def test_an_attempt_lags_as_a_slow_camera_or_a_slow_policy_does(
    delays: Delays, shown: list[int], first: list[int], recipe: Recipe, world: ExpertWorld
) -> None:
    skill, seen = ActingSkill(resolve("mini-metaworld").folder), []

    def predict(batch: PolicyBatch) -> np.ndarray:
        """Note what is shown; the third number of a step's action says which of the sixteen it is."""
        seen.append(round(float(next(iter(batch.images.values())).max())))
        chunk = np.zeros((1, 16, 4), np.float32)
        chunk[0, :, 2] = np.arange(16) / 16
        return chunk

    skill._policy.predict = predict  # type: ignore[method-assign]
    actions = list(skill.attempt(Still(world), recipe, TASK, "open the drawer", 20, delays))  # type: ignore[arg-type]

    assert len(actions) == 20, "every step has an action"
    assert seen == shown
    assert [round(16 * float(action[2])) for action in actions[::4]] == first
