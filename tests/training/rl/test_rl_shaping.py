"""Rewards on the way: they change how fast one learns, and never what is best."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rl_settings import PPO, small

from openral_core.errors import ContractError
from openral_training.rl.algorithm.advantages import gae
from openral_training.rl.algorithm.episode_arrays import flat_time
from openral_training.rl.envs.env_group import InProcess, VecEnvSpec
from openral_training.rl.envs.episode_trajectory import EpisodeRequest
from openral_training.rl.envs.rollout import exploring, rollout
from openral_training.rl.envs.shaping import ProgressModel, potential_differences
from openral_training.rl.initial_policy import initial_policy
from openral_training.rl.run import train
from openral_training.rl.settings.reward import ProgressReward

GAMMA = 0.9
DRAWER: dict[str, Any] = {
    **PPO,
    "env": {
        "scene": "metaworld_mini",
        "tasks": ["drawer-open-v3"],
        "max_episode_steps": 90,
        "instructions": {"drawer-open-v3": "open the drawer"},
        "train": {"total_num_envs": 2},
        "eval": {"init_ids": {"first": 1000, "count": 1}},
    },
    "reward": {"model_path": "mini-progress", "weight": 0.25},
    "runner": {"max_epochs": 1},
}


def mask_of(steps: list[int], chunk: int) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Return (T, B, C) of episodes of so many control steps."""
    decisions = -(-max(steps) // chunk)
    number = np.arange(decisions * chunk).reshape(decisions, 1, chunk)
    return np.asarray(number < np.array(steps)[None, :, None])


@pytest.mark.parametrize("chunk", [1, 3])
def test_what_is_paid_adds_up_to_where_one_is_less_where_one_was(chunk: int) -> None:
    steps = [5, 7]
    mask, solved = mask_of(steps, chunk), np.array([True, False])
    potentials = np.random.default_rng(0).random((len(mask) + 1, 2))
    paid = flat_time(potential_differences(potentials, mask, solved, gamma=GAMMA))
    for episode, length in enumerate(steps):
        total = sum(GAMMA**step * paid[step, episode] for step in range(length))
        last = 0.0 if solved[episode] else GAMMA**length * potentials[-(-length // chunk), episode]
        assert total == pytest.approx(last - potentials[0, episode])
        assert not paid[length:, episode].any()


def test_a_critic_that_knows_the_potential_is_surprised_by_the_same_things() -> None:
    """With V less the potential in the place of V every advantage is what it was: the best policy stays the best."""
    rng = np.random.default_rng(1)
    mask, solved = mask_of([5, 7, 6], 3), np.array([True, False, False])
    potentials = rng.random((len(mask) + 1, 3))
    steps = flat_time(mask)
    rewards, values = rng.normal(size=(2, *steps.shape)) * steps
    ends = steps & ~np.concatenate([steps[1:], np.zeros_like(steps[:1])])
    final = rng.normal(size=3)
    paid = flat_time(potential_differences(potentials, mask, solved, gamma=GAMMA))
    known = np.repeat(potentials[:-1], 3, axis=0)
    ended = potentials[[2, 3, 2], np.arange(3)]
    plain, _ = gae(rewards, values, ends & solved, ends & ~solved, final, gamma=GAMMA, gae_lambda=0.8)
    shaped, _ = gae(
        rewards + paid,
        values - known,
        ends & solved,
        ends & ~solved,
        final - ended,
        gamma=GAMMA,
        gae_lambda=0.8,
    )
    np.testing.assert_allclose(shaped, plain, atol=1e-12)


def test_a_reward_model_sees_the_drawer_open(tmp_path: Path) -> None:
    """Pictures are taken before each decision and after the last one, of requests that keep images."""
    initial = initial_policy(
        small(tmp_path, DRAWER, {"actor": {"model": {"head": "gaussian"}}, "base": {"steps": 300}})
    )
    simulators = InProcess(VecEnvSpec(initial.scenes, 2, 1, 90, initial.encoder_factory))
    requests = [
        EpisodeRequest("drawer-open-v3", 0, (number,), keep_images=number == 0) for number in range(2)
    ]
    torch.manual_seed(0)
    with_images, without_images = rollout(simulators, exploring(initial.policy), requests, action_dim=4)
    simulators.close()
    assert with_images.images.shape == (len(with_images.tokens) + 1, 128, 128, 3)
    assert not len(without_images.images)
    asked = ProgressReward(model_path="mini-progress", weight=0.25)
    model = ProgressModel(asked, {"drawer-open-v3": "open the drawer"})
    [potentials] = model.potentials([with_images])
    with pytest.raises(ContractError, match="keep no images"):
        model.potentials([without_images])
    model.close()
    assert potentials.shape == (len(with_images.tokens) + 1,)
    assert 0 <= potentials.min() <= potentials.max() <= 0.25


def test_a_run_pays_for_progress_and_closes_the_reward_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed, close = [], ProgressModel.close

    def note(model: ProgressModel) -> None:
        closed.append(model)
        close(model)

    monkeypatch.setattr(ProgressModel, "close", note)
    config = small(tmp_path, DRAWER)
    train(config)
    assert len(closed) == 1
    text = (config.folder / "metrics.csv").read_text().splitlines()
    row = dict(zip(text[0].split(","), text[2].split(","), strict=True))
    assert 0 < float(row["env/progress"]) < 0.25
