"""Batch and update together, at every level, on a game of two decisions that one can win by one number."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from openral_core.errors import PolicyError
from openral_training.rl.algorithm.batch import grpo_batch, ppo_batch
from openral_training.rl.algorithm.metrics import approx_kl
from openral_training.rl.algorithm.ppo import Learner, logprobs_of, minibatches
from openral_training.rl.algorithm.reductions import weighted_mean
from openral_training.rl.envs.episode_trajectory import EpisodeRequest, Trajectory
from openral_training.rl.policies.policy import PolicyEvaluation
from openral_training.rl.policies.state_mlp import MlpShape, StateMlp
from openral_training.rl.settings.actor import Optim
from openral_training.rl.settings.algorithm import Grpo, Ppo
from openral_training.rl.workers.rollout_workers import with_final_values

EPISODES, GROUP, DECISIONS, CHUNK = 32, 8, 2, 2


def games(policy: StateMlp, seed: int) -> list[Trajectory]:
    """Play: an episode is won in its first control step if the first number of its action is above 0.3."""
    rng = np.random.default_rng(seed)
    trajectories = []
    for number in range(EPISODES):
        group = number // GROUP
        observations = np.array([[group, 0, 1], [group, 1, 1]], np.float32)
        noise = rng.standard_normal((DECISIONS, CHUNK, 2)).astype(np.float32)
        decision = policy.sample(observations, noise)
        won = bool(decision.actions[0, 0, 0] > 0.3)
        length = 1 if won else DECISIONS
        executed = np.ones((length, CHUNK), np.bool_)
        executed[0, 1:] = not won
        rewards = np.zeros((length, CHUNK))
        rewards[0, 0] = won
        trajectories.append(
            Trajectory(
                EpisodeRequest(f"task{group % 2}", group, (number,), group),
                f"state{group}",
                observations[:length],
                np.array([group, 2, 1], np.float32),
                decision.tokens[:length],
                decision.logprobs[:length],
                decision.values[:length],
                rewards,
                executed,
            )
        )
    return with_final_values(trajectories, policy, 5)


def share_won(trajectories: list[Trajectory]) -> float:
    return float(np.mean([trajectory.success for trajectory in trajectories]))


LEVELS = [
    (adv_type, reward_type, logprob_type, head)
    for adv_type in ("grpo", "gae")
    for reward_type, logprob_type in (
        ("action", "token"),
        ("action", "action"),
        ("chunk", "token"),
        ("chunk", "chunk"),
    )
    for head in ("bins", "gaussian")
]
"""Estimator of advantages, level of the reward, level of the ratios, kind of the policy's head."""
ALWAYS = [("grpo", "action", "token", "bins"), ("gae", "chunk", "chunk", "gaussian")]
OFTEN = [
    ("grpo", "chunk", "chunk", "gaussian"),
    ("gae", "action", "action", "gaussian"),
    ("gae", "chunk", "token", "bins"),
]
"""With the first of those, each of their values at least once."""


def mark(levels: tuple[str, ...]) -> list[pytest.MarkDecorator]:
    return [] if levels in ALWAYS else [pytest.mark.slow if levels in OFTEN else pytest.mark.long]


@pytest.mark.parametrize(
    ("adv_type", "reward_type", "logprob_type", "head"),
    [pytest.param(*levels, marks=mark(levels)) for levels in LEVELS],
)
def test_what_wins_becomes_likelier(adv_type: str, reward_type: str, logprob_type: str, head: str) -> None:
    words = {
        "adv_type": adv_type,
        "reward_type": reward_type,
        "logprob_type": logprob_type,
        "clip_ratio_c": 3.0,
    }
    config: Grpo | Ppo = (
        Grpo.model_validate({**words, "group_size": GROUP, "kl_beta": 0.001, "scale": "task"})
        if adv_type == "grpo"
        else Ppo.model_validate(words)
    )
    width = CHUNK if isinstance(config, Ppo) and reward_type == "action" else 1
    torch.manual_seed(0)
    shape = {
        "head": head,
        "chunk": CHUNK,
        "hidden": 16,
        "observation_dim": 3,
        "action_dim": 2,
        "value_width": width,
    }
    policy = StateMlp(MlpShape.model_validate({**shape, **({"bins": 5} if head == "bins" else {})}))
    learner = Learner(policy, config, Optim(lr=0.01, value_lr=0.01 if adv_type == "gae" else None), 16)
    before = share_won(games(policy, 1000))
    for number in range(25):
        trajectories = games(policy, number)
        if isinstance(config, Grpo):
            batch, _ = grpo_batch(trajectories, config, horizon=DECISIONS * CHUNK)
        else:
            batch, _ = ppo_batch(trajectories, config)
        if batch is not None:
            figures = learner.update(batch, number, 0)
            assert all(np.isfinite(value) or "explained" in name for name, value in figures.items())
    assert before < 0.6
    assert share_won(games(policy, 1000)) > 0.85


class Watched(StateMlp):
    """Notes how many decisions it is asked about at once."""

    asked: list[int]

    def evaluate(self, observations: torch.Tensor, tokens: torch.Tensor) -> PolicyEvaluation:
        self.asked.append(len(tokens))
        return super().evaluate(observations, tokens)


def test_the_base_is_asked_in_minibatches_and_says_what_it_says_in_one_piece() -> None:
    torch.manual_seed(0)
    policy = Watched(MlpShape(chunk=CHUNK, hidden=16, observation_dim=3, action_dim=2, value_width=1))
    policy.asked = []
    config = Grpo(adv_type="grpo", group_size=GROUP, kl_beta=0.1, target_kl=None)
    batch, _ = grpo_batch(games(policy, 0), config, horizon=DECISIONS * CHUNK)
    assert batch is not None
    assert len(batch) > 20
    learner = Learner(policy, config, Optim(lr=0.01), 8)
    learner.update(batch, 0, 0)
    base = learner._base
    assert isinstance(base, Watched)
    assert sum(base.asked) == len(batch)
    assert len(base.asked) == math.ceil(len(batch) / 8)
    assert max(base.asked) <= min(8, min(base.asked) + 1)
    in_parts = logprobs_of(base, batch, 8)
    assert not in_parts.requires_grad
    torch.testing.assert_close(in_parts, logprobs_of(base, batch, len(batch)), rtol=0, atol=1e-6)
    new = policy.evaluate(batch.observations, batch.tokens).logprobs
    one, other = (
        weighted_mean(approx_kl(logprobs_of(base, batch, size) - new), batch.weights[..., None]).item()
        for size in (8, len(batch))
    )
    assert one == pytest.approx(other, rel=1e-5)
    assert one > 0


def lasting(policy: StateMlp, decisions: int, won: bool, number: int) -> Trajectory:
    """Return an episode of so many decisions of group 0, every step of it executed."""
    observations = np.tile(np.array([[0, 0, 1]], np.float32), (decisions, 1))
    noise = np.random.default_rng(number).standard_normal((decisions, CHUNK, 2)).astype(np.float32)
    decision = policy.sample(observations, noise)
    rewards = np.zeros((decisions, CHUNK))
    rewards[-1, -1] = won
    return Trajectory(
        EpisodeRequest("task0", 0, (number,), 0),
        "state0",
        observations,
        observations[-1],
        decision.tokens,
        decision.logprobs,
        decision.values,
        rewards,
        np.ones((decisions, CHUNK), np.bool_),
    )


@pytest.mark.parametrize("logprob_type", ["token", "action", "chunk"])
@pytest.mark.parametrize("minibatch_size", [1, 3, 6])
def test_dr_grpo_divides_neither_by_the_spread_nor_by_the_length(
    logprob_type: str, minibatch_size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gradient is that of the sum over all steps of all episodes by a constant (arXiv:2503.20783, equation 3)."""
    horizon, lengths, wins = 20, (1, 5), (True, False)
    torch.manual_seed(0)
    policy = StateMlp(MlpShape(chunk=CHUNK, hidden=16, observation_dim=3, action_dim=2, value_width=1))
    words = {"logprob_type": logprob_type, "reward_type": "chunk" if logprob_type == "chunk" else "action"}
    config = Grpo.model_validate(
        {"adv_type": "grpo", "group_size": 2, "scale": "none", "update_epoch": 1, "target_kl": None, **words}
    )
    episodes = [lasting(policy, *each, number) for number, each in enumerate(zip(lengths, wins, strict=True))]
    batch, _ = grpo_batch(episodes, config, horizon=horizon)
    assert batch is not None
    learner = Learner(policy, config, Optim(lr=1.0, clip_grad=1e9), minibatch_size)
    parameters, found = list(policy.actor_parameters()), []

    def note() -> None:
        found.append([gradient.clone() for p in parameters if (gradient := p.grad) is not None])

    monkeypatch.setattr(learner.optimiser, "step", note)
    learner.update(batch, 0, 0)
    assert len(found) == sum(lengths) // minibatch_size
    expected = torch.zeros(())
    for episode, advantage in zip(episodes, (0.5, -0.5), strict=True):
        seen, tokens = torch.from_numpy(episode.observations), torch.from_numpy(episode.tokens)
        logprobs = policy.evaluate(seen, tokens).logprobs
        per_step = logprobs.mean(-1) if logprob_type == "token" else logprobs.sum(-1)
        weight = CHUNK if logprob_type == "chunk" else 1  # a chunk's one ratio stands for all its steps
        expected = expected - advantage * weight * per_step.sum() / horizon / len(episodes)
    for *steps, other in zip(*found, torch.autograd.grad(expected, parameters), strict=True):
        torch.testing.assert_close(torch.stack(steps).mean(0), other, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("reward_type", ["action", "chunk"])
def test_advantages_are_centred_with_the_weights_of_the_loss(reward_type: str) -> None:
    """Long episodes fill most steps and weigh no more than short ones, in the mean and the deviation, too."""
    config = Ppo.model_validate({"adv_type": "gae", "reward_type": reward_type, "scale": "task"})
    torch.manual_seed(0)
    width = CHUNK if reward_type == "action" else 1
    policy = StateMlp(MlpShape(chunk=CHUNK, hidden=16, observation_dim=3, action_dim=2, value_width=width))
    trajectories = games(policy, 0)
    batch, figures = ppo_batch(trajectories, config)
    advantages = batch.advantages.expand_as(batch.weights).double().numpy()
    weights = batch.weights.double().numpy()
    tasks = np.repeat([t.request.task for t in trajectories], [len(t.tokens) for t in trajectories])
    order = np.lexsort(
        (
            np.repeat(np.arange(len(trajectories)), [len(t.tokens) for t in trajectories]),
            _decisions(trajectories),
        )
    )
    for task in ("task0", "task1"):
        rows = tasks[order] == task
        mean = np.average(advantages[rows], weights=weights[rows])
        assert mean == pytest.approx(0, abs=1e-6)
        assert np.average(advantages[rows] ** 2, weights=weights[rows]) == pytest.approx(1, abs=1e-3)
    assert figures["rollout/advantages_mean"] == pytest.approx(0, abs=1e-6)


def _decisions(trajectories: list[Trajectory]) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Return the number of each decision in its episode: a batch has the first ones of all episodes first."""
    return np.concatenate([np.arange(len(t.tokens)) for t in trajectories])


def test_while_the_critic_warms_up_the_actor_stays() -> None:
    config = Ppo(adv_type="gae", critic_warmup_steps=1)
    torch.manual_seed(0)
    policy = StateMlp(MlpShape(chunk=CHUNK, hidden=16, observation_dim=3, action_dim=2, value_width=CHUNK))
    learner = Learner(policy, config, Optim(lr=0.01, value_lr=0.01), 16)
    actor, critic = (
        [parameter.clone() for parameter in part.parameters()]
        for part in (policy.network.actor, policy.network.critic)
    )
    batch, _ = ppo_batch(games(policy, 0), config)
    learner.update(batch, 0, 0)
    assert all(torch.equal(a, b) for a, b in zip(actor, policy.network.actor.parameters(), strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(critic, policy.network.critic.parameters(), strict=True))
    batch, _ = ppo_batch(games(policy, 1), config)
    learner.update(batch, 1, 0)
    assert not all(torch.equal(a, b) for a, b in zip(actor, policy.network.actor.parameters(), strict=True))


def test_an_aborted_episode_is_not_bootstrapped() -> None:
    """The critic's value of the last observation counts after truncation, and not where a world model gave up."""
    config = Ppo(adv_type="gae", gamma=0.9)
    torch.manual_seed(0)
    policy = StateMlp(MlpShape(chunk=CHUNK, hidden=16, observation_dim=3, action_dim=2, value_width=CHUNK))
    late = next(one for one in games(policy, 0) if not one.success)
    cut_off, given_up = (
        ppo_batch([replace(late, aborted=aborted)], config)[0].returns for aborted in (False, True)
    )
    expected = float(policy.values(late.last_observation[None])[0, 0])
    assert float(cut_off[-1, -1]) == pytest.approx(0.9 * expected, abs=1e-6)
    assert float(given_up[-1, -1]) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(("reward_type", "exponent"), [("action", 1.0), ("chunk", 0.5)])
def test_what_is_to_come_after_a_cut_off_is_discounted_for_the_steps_until_it(
    reward_type: str, exponent: float
) -> None:
    """A chunk of two steps that is cut off after one lasts half as long, so its discount is gamma ** (1 / 2)."""
    config = Ppo.model_validate({"adv_type": "gae", "gamma": 0.9, "reward_type": reward_type})
    torch.manual_seed(0)
    width = CHUNK if reward_type == "action" else 1
    policy = StateMlp(MlpShape(chunk=CHUNK, hidden=16, observation_dim=3, action_dim=2, value_width=width))
    late = next(one for one in games(policy, 0) if not one.success)
    executed = late.executed.copy()
    executed[-1, 1:] = False
    batch, _ = ppo_batch([replace(late, executed=executed)], config)
    expected = 0.9**exponent * float(policy.values(late.last_observation[None])[0, 0])
    assert float(batch.returns[-1, 0]) == pytest.approx(expected, abs=1e-6)


def test_no_minibatch_is_a_small_remainder() -> None:
    """A remainder of one decision would take a whole step of the optimiser, as large as that of a full minibatch."""
    for count, size in ((17, 8), (1025, 1024), (16, 8), (5, 8)):
        parts = minibatches(torch.arange(count), size)
        lengths = [len(part) for part in parts]
        assert torch.cat(parts).tolist() == list(range(count))
        assert len(lengths) == math.ceil(count / size)
        assert max(lengths) <= min(size, min(lengths) + 1)


def test_the_optimiser_steps_once_a_minibatch(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    policy = Watched(MlpShape(chunk=CHUNK, hidden=16, observation_dim=3, action_dim=2, value_width=CHUNK))
    policy.asked = []
    batch, _ = ppo_batch(games(policy, 0), Ppo(adv_type="gae", update_epoch=1))
    size = len(batch) - 1
    Learner(policy, Ppo(adv_type="gae", update_epoch=1), Optim(lr=1e-3, value_lr=1e-3), size).update(
        batch, 0, 0
    )
    assert len(policy.asked) == 2
    assert abs(policy.asked[0] - policy.asked[1]) <= 1


def test_an_update_that_diverges_is_an_error_and_not_a_policy_of_nan() -> None:
    torch.manual_seed(0)
    shape = {"head": "gaussian", "chunk": CHUNK, "hidden": 16, "observation_dim": 3, "action_dim": 2}
    policy = StateMlp(MlpShape.model_validate({**shape, "value_width": CHUNK}))
    config = Ppo(adv_type="gae", target_kl=None)
    learner = Learner(policy, config, Optim(lr=1e30, value_lr=1e30), 16)
    batch, _ = ppo_batch(games(policy, 0), config)
    with pytest.raises(
        PolicyError, match=r"update 8: the norm of the gradient is .*; lower actor\.optim\.lr"
    ):
        learner.update(batch, 7, 0)


def test_only_truncated_episodes_are_bootstrapped() -> None:
    torch.manual_seed(0)
    policy = StateMlp(MlpShape(chunk=CHUNK, hidden=16, observation_dim=3, action_dim=2, value_width=CHUNK))
    ended = games(policy, 0)
    assert {one.success for one in ended} == {True, False}
    for one in ended:
        expected = 0.0 if one.success else float(policy.values(one.last_observation[None])[0, 0])
        assert one.final_value == pytest.approx(expected, abs=1e-6)
