"""The pure pieces against closed forms and against straightforward float64 loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from openral_core.errors import ContractError
from openral_training.rl.algorithm.advantages import gae, group_relative, normalised
from openral_training.rl.algorithm.batch import Batch
from openral_training.rl.algorithm.episode_arrays import flat_time, trajectory_weights, until_done
from openral_training.rl.algorithm.groups import check_groups, is_informative
from openral_training.rl.algorithm.metrics import (
    approx_kl,
    critic_metrics,
    explained_variance,
    mean_of,
    policy_metrics,
)
from openral_training.rl.algorithm.ppo import policy_loss, value_loss
from openral_training.rl.algorithm.reductions import (
    reduce_any,
    reduce_logprobs,
    reduce_rewards,
    reduce_weights,
    weighted_mean,
)
from openral_training.rl.settings.algorithm import Grpo, Ppo

Floats = NDArray[np.float64]
CLIPPED = Grpo(adv_type="grpo", group_size=2, clip_ratio_low=0.2, clip_ratio_high=0.28, clip_ratio_c=3.0)


def test_the_step_that_ends_an_episode_belongs_to_it_and_nothing_after_it() -> None:
    done = np.array([[0, 0], [1, 0], [0, 0], [1, 0]], bool)
    assert until_done(done).T.tolist() == [[True, True, False, False], [True] * 4]


def test_one_entry_a_control_step() -> None:
    steps = np.arange(2 * 3 * 4).reshape(2, 3, 4)
    flat = flat_time(steps)
    assert flat.shape == (8, 3)
    assert flat[:, 1].tolist() == [*steps[0, 1], *steps[1, 1]]


def test_every_episode_weighs_the_same() -> None:
    mask = np.zeros((5, 2, 3), bool)
    mask[:1, 0], mask[:, 1] = True, True
    weights = trajectory_weights(mask)
    assert weights.sum((0, 2)) == pytest.approx([1, 1])
    assert weights[0, 0, 0] == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="no executed step"):
        trajectory_weights(np.zeros((2, 1), bool))


def reference_gae(
    rewards: Floats,
    values: Floats,
    terminated: Floats,
    truncated: Floats,
    last: Floats,
    gamma: float,
    lam: float,
) -> Floats:
    """Return the sum of discounted TD errors of each step of each episode, written out (equation 16)."""
    steps, episodes = rewards.shape
    out = np.zeros_like(rewards)
    for episode in range(episodes):
        ends = np.flatnonzero(terminated[:, episode] | truncated[:, episode])
        length = int(ends[0]) + 1 if len(ends) else steps
        for start in range(length):
            for step in range(start, length):
                ended = step == length - 1
                future = last[episode] if ended else values[min(step + 1, steps - 1), episode]
                if ended and terminated[step, episode]:
                    future = 0.0
                delta = rewards[step, episode] + gamma * future - values[step, episode]
                out[start, episode] += (gamma * lam) ** (step - start) * delta
    return out


@pytest.mark.parametrize("lam", [0.0, 0.9, 1.0])
def test_gae_is_the_sum_of_discounted_errors(lam: float) -> None:
    rng = np.random.default_rng(0)
    rewards, values = rng.normal(size=(2, 9, 4))
    last = rng.normal(size=4)
    terminated, truncated = np.zeros((2, 9, 4), bool)
    terminated[3, 0], truncated[5, 1], terminated[8, 2] = True, True, True  # the fourth runs past the array
    advantages, returns = gae(rewards, values, terminated, truncated, last, gamma=0.97, gae_lambda=lam)
    expected = reference_gae(rewards, values, terminated, truncated, last, 0.97, lam)
    np.testing.assert_allclose(advantages, expected, atol=1e-12)
    mask = until_done(terminated | truncated)
    np.testing.assert_allclose(returns, np.where(mask, expected + values, 0), atol=1e-12)


def test_running_out_of_time_is_not_failing() -> None:
    """With a constant reward and its true value everywhere, being cut off is no surprise, but ending is."""
    gamma, reward = 0.9, 1.0
    value = reward / (1 - gamma)
    rewards, values = np.full((5, 2), reward), np.full((5, 2), value)
    ends = np.zeros((2, 5, 2), bool)
    ends[0, 4, 0], ends[1, 4, 1] = True, True
    advantages, _ = gae(rewards, values, *ends, np.full(2, value), gamma=gamma, gae_lambda=1.0)
    assert advantages[:, 1] == pytest.approx(np.zeros(5), abs=1e-12)
    assert advantages[0, 0] == pytest.approx(-(gamma**5) * value)


def test_normalised_by_task_and_over_executed_steps() -> None:
    rng = np.random.default_rng(1)
    advantages = rng.normal(size=(6, 4)) * [1, 1, 100, 100]
    mask = rng.random((6, 4)) < 0.8
    scaled = normalised(advantages, mask, ["easy", "easy", "hard", "hard"])
    for columns in (slice(0, 2), slice(2, 4)):
        mine = scaled[:, columns][mask[:, columns]]
        assert mine.mean() == pytest.approx(0, abs=1e-9)
        assert mine.std() == pytest.approx(1, abs=1e-3)
    assert not scaled[~mask].any()
    together = normalised(advantages, mask)[:, :2][mask[:, :2]]
    assert together.std() < 0.1


def test_group_relative_advantages() -> None:
    returns = np.array([1.0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0])
    groups = np.repeat([0, 1, 2], 4)
    by_group = group_relative(returns, groups, scale="group", floor=0.1)
    assert by_group[0] == pytest.approx(0.75 / np.std([1, 0, 0, 0], ddof=1))
    assert not by_group[4:8].any()  # nothing to learn where all are equal
    assert by_group[8:] == pytest.approx(np.array([1, 1, -1, -1]) * 0.5 / np.std([1, 1, 0, 0], ddof=1))
    assert group_relative(returns, groups, scale="none", floor=0.1)[:4] == pytest.approx(
        [0.75, -0.25, -0.25, -0.25]
    )
    tasks = ["a"] * 8 + ["b"] * 4
    by_task = group_relative(returns, groups, scale="task", floor=0.1, tasks=tasks)
    assert by_task[0] == pytest.approx(0.75 / returns[:8].std(ddof=1))
    assert by_task[8] == pytest.approx(0.5 / returns[8:].std(ddof=1))


def test_nearly_equal_returns_are_not_blown_up() -> None:
    returns = np.array([0.5, 0.5 + 1e-9])
    assert np.abs(group_relative(returns, np.zeros(2, int), scale="group", floor=0.1)).max() < 1e-8


def test_groups_that_mix_states_or_lack_members_are_refused() -> None:
    groups = np.array([0, 0, 1, 1])
    check_groups(groups, ["a", "a", "b", "b"], 2)
    with pytest.raises(ContractError, match="group 1 mixes 2 tasks or initial states"):
        check_groups(groups, ["a", "a", "b", "c"], 2)
    with pytest.raises(ContractError, match=r"group 0 has 2 episodes, algorithm\.group_size is 4"):
        check_groups(groups, ["a", "a", "b", "b"], 4)


def test_informative_groups() -> None:
    returns = np.array([0.0, 0, 1, 1, 1, 0])
    assert is_informative(returns, np.array([0, 0, 1, 1, 2, 2])).tolist() == [False] * 4 + [True] * 2
    assert not is_informative(returns, np.array([0, 0, 1, 1, 2, 2]), high=0.5).any()


def test_levels_of_a_decision() -> None:
    logprobs = torch.tensor([[[1.0, 2.0], [3.0, 4.0]]])
    executed = torch.tensor([[1.0, 0.0]])
    assert reduce_logprobs(logprobs, executed, "token").tolist() == logprobs.tolist()
    assert reduce_logprobs(logprobs, executed, "action").tolist() == [[[3.0], [7.0]]]
    assert reduce_logprobs(logprobs, executed, "chunk").tolist() == [[[3.0]]]
    weights = torch.tensor([[0.25, 0.5]])
    assert reduce_weights(weights, "action").tolist() == [[[0.25], [0.5]]]
    assert reduce_weights(weights, "chunk").tolist() == [[[0.75]]]


def test_levels_of_rewards() -> None:
    rewards = np.array([[[1.0, 2.0, 4.0]]])
    executed, done = np.array([[[True, True, False]]]), np.array([[[False, True, False]]])
    assert reduce_rewards(rewards, executed, "action").tolist() == [[[1, 2, 0]]]
    assert reduce_rewards(rewards, executed, "chunk").tolist() == [[[3]]]
    assert reduce_any(done, "chunk").tolist() == [[[True]]]


@pytest.mark.parametrize(
    ("advantage", "ratio", "expected"),
    [
        (1.0, 1.1, -1.1),
        (1.0, 1.5, -1.28),
        (1.0, 0.5, -0.5),
        (-1.0, 0.9, 0.9),
        (-1.0, 0.5, 0.8),
        (-1.0, 2.0, 2.0),
        (-1.0, 9.0, 3.0),
    ],
)
def test_clipped_surrogate(advantage: float, ratio: float, expected: float) -> None:
    logprobs = torch.tensor([math.log(ratio)], dtype=torch.float64)
    loss = policy_loss(logprobs.exp(), torch.tensor([advantage]), torch.ones(1), CLIPPED)
    assert loss.item() == pytest.approx(expected)


def test_without_clipping_the_gradient_is_that_of_reinforce() -> None:
    logits = torch.tensor([0.3, -0.2, 0.1], dtype=torch.float64, requires_grad=True)
    advantages = torch.tensor([2.0, -1.0, 0.5], dtype=torch.float64)
    logprobs = logits.log_softmax(0)
    loss = policy_loss((logprobs - logprobs.detach()).exp(), advantages, torch.ones(3), CLIPPED)
    (found,) = torch.autograd.grad(loss, logits)
    probabilities = logits.detach().softmax(0)
    expected = -(advantages - advantages.sum() * probabilities) / 3
    torch.testing.assert_close(found, expected)


def test_the_loss_of_values() -> None:
    values, old, returns = (
        torch.tensor([0.0, 1.0, 30.0]),
        torch.tensor([0.0, 0.0, 30.0]),
        torch.tensor([0.5, 1.0, 0.0]),
    )
    shape = torch.zeros(3)
    batch = Batch(shape, shape, shape, shape, shape, shape, values=old, returns=returns)
    plain = value_loss(values, batch, torch.ones(3), Ppo(adv_type="gae", value_clip=None, huber_delta=10.0))
    assert plain.item() == pytest.approx((0.125 + 0 + 10 * (30 - 5)) / 3)
    clipped = value_loss(values, batch, torch.ones(3), Ppo(adv_type="gae", value_clip=0.2, huber_delta=10.0))
    assert clipped.item() == pytest.approx((0.125 + 0.5 * 0.8**2 + 250) / 3)


def test_approx_kl_is_unbiased_and_never_negative() -> None:
    own = torch.tensor([0.6, 0.3, 0.1], dtype=torch.float64).log()
    other = torch.tensor([0.2, 0.5, 0.3], dtype=torch.float64).log()
    estimate = approx_kl(other - own)
    assert (estimate >= 0).all()
    true = (own.exp() * (own - other)).sum()
    assert (own.exp() * estimate).sum().item() == pytest.approx(true.item())


def test_metrics_are_those_before_clamping_and_do_not_grow_with_the_action() -> None:
    for size in (1, 7):
        logprobs = torch.full((4, 2, size), math.log(1.5))
        weights = torch.ones(4, 2, 1)
        weights[0] = 0  # padding
        advantages = torch.ones(4, 1, 1)
        found = policy_metrics(logprobs, advantages, weights, CLIPPED)
        assert found["train/actor/clip_fraction"] == 1
        assert found["train/actor/ratio"] == pytest.approx(1.5)
        assert found["train/actor/clipped_ratio"] == pytest.approx(1.28)
        assert found["train/actor/approx_kl"] == pytest.approx(1.5 - 1 - math.log(1.5), rel=1e-5)
        assert found["train/actor/dual_clip_fraction"] == 0
    critic = critic_metrics(torch.tensor([1.0, 0.0]), torch.zeros(2), torch.ones(2), torch.ones(2), 0.2)
    assert critic["train/critic/value_clip_ratio"] == 0.5


def test_explained_variance() -> None:
    returns, weights = torch.tensor([1.0, 2.0, 3.0]), torch.ones(3)
    assert explained_variance(returns, returns, weights) == 1
    assert explained_variance(torch.full((3,), 2.0), returns, weights) == 0
    assert math.isnan(explained_variance(returns, torch.ones(3), weights))


def test_means_of_figures() -> None:
    found = mean_of([{"a": 1.0, "b": float("nan")}, {"a": 3.0, "c": 5.0}])
    assert found["a"] == 2
    assert found["c"] == 5
    assert math.isnan(found["b"])


def test_weighted_mean_spreads_weights() -> None:
    assert weighted_mean(torch.tensor([[1.0, 3.0], [5.0, 7.0]]), torch.tensor([[1.0], [0.0]])).item() == 2
