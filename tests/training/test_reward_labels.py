"""What a dataset's frames teach a reward model, on episodes written down by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from openral_reward_monitor.models.mini.network import MiniRewardConfig, MiniRewardNetwork
from openral_training import reward
from openral_training.training_recipe import Recipe

RATE_HZ = 10.0
RECIPE = Recipe.model_validate(
    {
        "train_init_ids": {"first": 0, "count": 2},
        "heldout_init_ids": {"first": 10, "count": 2},
        "tasks": {
            name: {"scene": scene, "train": [name], "heldout": [f"please {name}"]}
            for name, scene in (("open", "a"), ("close", "a"), ("press", "b"))
        },
    }
)


class HandWritten:
    """Episodes of "open", one for each number of frames until its success, which lasts two frames."""

    info = {"fps": RATE_HZ}  # noqa: RUF012

    def __init__(self, lasting: list[int], behaviours: list[str]) -> None:
        ends = np.cumsum(np.add(lasting, 2))
        self._success = np.zeros((ends[-1], 3))
        for end in ends:
            self._success[end - 2 : end, 0] = 1
        self.episodes = {
            "dataset_from_index": [0, *ends[:-1].tolist()],
            "dataset_to_index": ends.tolist(),
            "behaviour": behaviours,
        }

    def columns(self, names: list[str]) -> dict[str, np.ndarray]:
        known = {"label.success": self._success, "task_index": np.zeros(len(self), np.int64)}
        known |= dict.fromkeys(reward.DISTANCES, np.full(self._success.shape, 0.2))
        return {name: known[name] for name in names}

    def __len__(self) -> int:
        return len(self._success)


def labels(lasting: list[int], behaviours: list[str]) -> reward.RewardLabels:
    return reward.label(HandWritten(lasting, behaviours), RECIPE)


def test_legs_of_a_moment_are_measured_against_the_least_reference():
    found = labels([2, 2], ["expert", "noisy_expert"])
    assert found.reference_s[0] == reward.LEAST_REFERENCE_S
    assert found.progress[0, 0] == pytest.approx(1 - 2 / (reward.LEAST_REFERENCE_S * RATE_HZ))
    assert found.progress[2, 0] == 1.0


def test_a_task_of_a_second_uses_the_whole_range():
    found = labels([10] * 20, ["expert"] * 20)
    assert found.progress[0, 0] == pytest.approx(0.0)
    assert found.progress[10, 0] == 1.0


def test_the_longer_legs_of_harder_tasks_begin_near_zero_and_never_flat():
    found = labels([40] * 20, ["expert"] * 20)
    assert found.reference_s.tolist() == pytest.approx([4.0, *[reward.LEAST_REFERENCE_S] * 2]), (
        "each task has its own"
    )
    assert found.progress[0, 0] == pytest.approx(0.0)
    assert (np.diff(found.progress[:41, 0]) > 0).all()


def test_other_worlds_words_are_no_progress_and_a_failures_way_teaches_success_alone():
    found = labels([5, 5], ["expert", "stuck"])
    assert (found.progress[:, 2] == 0.0).all()
    assert np.isnan(found.progress[:, 1]).all()
    assert np.isnan(found.progress[7:12, 0]).all()
    assert (found.progress[12:, 0] == 1.0).all(), "wherever it is done, whoever did it"
    assert found.own.tolist() == list(range(7))


def test_an_attempt_begins_in_its_own_episode_and_never_after_the_frame():
    found = labels([5, 8], ["expert", "expert"])
    rows = np.repeat(np.arange(len(found.task)), 50)
    began = reward.attempt_began(found, rows, np.random.default_rng(0))
    assert (began <= rows).all()
    assert (found.first[began] == found.first[rows]).all()
    last = began[rows == len(found.task) - 1]
    assert {7, 16} <= set(last.tolist()), "with the episode, and with the frame itself"
    assert len(set(last.tolist())) > 3, "and on the way"


def test_the_shares_of_processes_add_up_to_a_batchs_error_and_gradient():
    found, rng = labels([5, 8], ["expert", "stuck"]), np.random.default_rng(0)
    rows, tasks = reward.draw(found, 9, rng)
    torch.manual_seed(0)
    learner = reward.RewardLearner(MiniRewardNetwork(MiniRewardConfig())).eval()
    size = learner.network.config.image_size
    images = torch.from_numpy(rng.integers(0, 256, (9, 3, size, size), np.uint8))
    words = torch.randn(9, 384)

    def learned(shares: list[slice]) -> tuple[float, torch.Tensor]:
        batches = [
            reward.RewardBatch.of(found, rows, tasks, share, images[share], words[share]) for share in shares
        ]
        parts = [reward.batch_loss(learner, batch) for batch in batches]
        gradient = torch.autograd.grad(sum(parts), list(learner.parameters()))
        return float(sum(parts)), torch.cat([value.flatten() for value in gradient])

    whole, wanted = learned([slice(0, 9)])
    assert np.isnan(found.progress[rows, tasks]).any(), "else the shares would be means of equal parts"
    shared, made = learned([slice(0, 2), slice(2, 9)])
    assert shared == pytest.approx(whole, rel=1e-2)  # products are in bf16
    assert (made - wanted).norm() < 2e-2 * wanted.norm()
