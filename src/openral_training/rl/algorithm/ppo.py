"""PPO and GRPO, from top to bottom: the batch, its advantages, the losses, and the update.

An episode is T decisions, each a chunk of C control steps with A numbers (tokens) a step. Arrays of episodes are
(T, B, ...), one column an episode; a batch is (N, ...), one row a decision.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import huber_loss
from torch.nn.utils import clip_grad_norm_

from openral_training.rl.algorithm import episode_arrays as arrays
from openral_training.rl.algorithm import groups, metrics, reductions
from openral_training.rl.algorithm.reductions import weighted_mean
from openral_training.rl.envs.attempts import Trajectory
from openral_training.rl.envs.shaping import potential_differences
from openral_training.rl.policies.policy import PolicyEvaluation, StochasticPolicy
from openral_training.rl.settings.actor import Optim
from openral_training.rl.settings.algorithm import Grpo, Ppo, Scale

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Potentials = Sequence[Floats] | None


# The batch


@dataclass(frozen=True)
class Batch:
    """N decisions of all episodes, ready to be learnt from in any order."""

    observations: Tensor
    """(N, D)"""
    tokens: Tensor
    """(N, C, A)"""
    logprobs: Tensor
    """(N, C, A) under the policy that acted."""
    executed: Tensor
    """(N, C) 1 where a control step was executed, else 0."""
    advantages: Tensor
    """(N, C) or (N, 1), by the level of rewards."""
    weights: Tensor
    """(N, C) by which every episode counts the same."""
    values: Tensor
    """(N, V) of the critic when the policy acted."""
    returns: Tensor
    """(N, V); zeros without a critic."""

    def __len__(self) -> int:
        return len(self.observations)

    def __getitem__(self, rows: Tensor) -> Batch:
        return Batch(**{field.name: getattr(self, field.name)[rows] for field in fields(self)})

    def to(self, device: str) -> Batch:
        """Return it on a device of torch."""
        return Batch(**{field.name: getattr(self, field.name).to(device) for field in fields(self)})


def ppo_batch(
    trajectories: Sequence[Trajectory], policy: StochasticPolicy, config: Ppo, potentials: Potentials = None
) -> tuple[Batch, dict[str, float]]:
    """Return the batch of a PPO update, and `rollout/*`.

    The policy's critic says what is to come after the horizon. Differences of potentials, (T + 1,) of each trajectory,
    are paid beside the rewards; see `shaping`.
    """
    level = config.reward_type
    executed, solved = _padded(trajectories, "executed"), np.array([t.success for t in trajectories])
    lived = reductions.reduce_any(executed, level)
    rewards = reductions.reduce_rewards(_padded(trajectories, "rewards"), executed, level)
    discounts = reductions.reduce_discount(config.gamma, executed, level)
    if potentials is not None:
        paid = arrays.padded(potentials)
        rewards = rewards + potential_differences(paid, lived, solved, gamma=discounts)
    values = _padded(trajectories, "values").astype(np.float64)
    final_values = policy.values(np.stack([t.last for t in trajectories]))[:, 0].astype(np.float64)
    lived_steps = arrays.flat_time(lived)
    over = arrays.last_lived(lived_steps)
    terminated = solved | np.array([t.lost for t in trajectories])
    advantages, returns = gae(
        arrays.flat_time(rewards),
        arrays.flat_time(values),
        over & terminated,
        over & ~terminated,
        final_values,
        gamma=arrays.flat_time(discounts),
        gae_lambda=config.gae_lambda,
    )
    tasks = [t.attempt.task for t in trajectories] if config.scale == "task" else None
    advantages = normalised(advantages, lived_steps, tasks)
    columns = [arrays.unflat_time(steps, lived.shape) for steps in (advantages, returns)]
    batch = _batch(trajectories, executed, *columns)
    return batch, metrics.advantage_metrics(advantages, lived_steps)


def grpo_batch(trajectories: Sequence[Trajectory], config: Grpo) -> tuple[Batch | None, dict[str, float]]:
    """Return the batch of a GRPO update, and `rollout/*`; None if no group is informative.

    Raises:
        ContractError: a group mixes tasks or initial states, or is not whole.
    """
    is_informative = groups.in_informative_group(trajectories, config)
    used = [t for t, informative in zip(trajectories, is_informative, strict=True) if informative]
    if not used:
        return None, {}
    tasks, group = [t.attempt.task for t in used], groups.group_numbers(used)
    returns = groups.returns_of(used)
    advantages = group_relative(returns, group, scale=config.scale, floor=config.std_floor, tasks=tasks)
    executed = _padded(used, "executed")
    spread = np.where(reductions.reduce_any(executed, config.reward_type), advantages[None, :, None], 0.0)
    batch = _batch(used, executed, spread, np.zeros((*executed.shape[:2], 1)))
    return batch, metrics.advantage_metrics(advantages[None, :], np.ones((1, len(used)), np.bool_))


def _batch(trajectories: Sequence[Trajectory], executed: Bools, advantages: Floats, returns: Floats) -> Batch:
    """Lay the decisions of all episodes in one row; arrays are (T, B, ...)."""
    taken = executed.any(-1)

    def rows(array: NDArray[np.generic]) -> Tensor:
        return torch.from_numpy(array[taken].astype(np.float32))

    return Batch(
        observations=torch.from_numpy(_padded(trajectories, "observations")[taken]),
        tokens=rows(_padded(trajectories, "tokens")),
        logprobs=rows(_padded(trajectories, "logprobs")),
        executed=rows(executed),
        advantages=rows(advantages),
        weights=rows(arrays.trajectory_weights(executed)),
        values=rows(_padded(trajectories, "values")),
        returns=rows(returns),
    )


def _padded(trajectories: Sequence[Trajectory], name: str) -> NDArray[Any]:
    return arrays.padded([getattr(trajectory, name) for trajectory in trajectories])


# Advantages


def gae(
    rewards: Floats,
    values: Floats,
    terminated: Bools,
    truncated: Bools,
    final_values: Floats,
    *,
    gamma: float | Floats,
    gae_lambda: float,
) -> tuple[Floats, Floats]:
    """Return advantages and returns (T, B), see Schulman et al. 2016, arXiv:1506.02438, equations 11, 12 and 16.

    After truncation the value of the last observation stands for what would have come (Pardo et al. 2018,
    arXiv:1712.00378, equation 6); after termination nothing is to come. Steps after an episode's end come back as 0.

    Args:
        rewards: (T, B), as the next three.
        values: of the observation before each step.
        terminated: the episode came to its end in this step.
        truncated: it was cut off after this step.
        final_values: (B,) of the last observation.
        gamma: discount of each step, (T, B) or one for all.
        gae_lambda: 0 (one step, biased) to 1 (the whole return, noisy).
    """
    done = terminated | truncated
    next_values = np.concatenate([values[1:], final_values[None]])
    next_values = np.where(truncated, final_values, np.where(terminated, 0.0, next_values))
    delta = rewards + gamma * next_values - values
    decay = np.broadcast_to(gamma, delta.shape) * gae_lambda
    advantages, last_gae = np.zeros_like(delta), np.zeros_like(final_values)
    for step in reversed(range(len(rewards))):
        last_gae = delta[step] + decay[step] * np.where(done[step], 0.0, last_gae)
        advantages[step] = last_gae
    lived = arrays.until_done(done)
    return np.where(lived, advantages, 0.0), np.where(lived, advantages + values, 0.0)


def normalised(
    advantages: Floats, lived: Bools, labels: Sequence[Hashable] | None = None, floor: float = 1e-5
) -> Floats:
    """Return advantages (T, B) of mean 0 and standard deviation 1 over all steps that were lived.

    With labels (B,) each task is normalised by itself, so that an easy one does not set the scale of a hard one.
    """
    scaled = np.zeros_like(advantages)
    names = ["all"] * advantages.shape[1] if labels is None else list(labels)
    for name in dict.fromkeys(names):
        columns = [index for index, label in enumerate(names) if label == name]
        mine = advantages[:, columns][lived[:, columns]]
        scaled[:, columns] = (advantages[:, columns] - mine.mean()) / (mine.std() + floor)
    return np.where(lived, scaled, 0.0)


def group_relative(
    returns: Floats, group: NDArray[np.int64], *, scale: Scale, floor: float, tasks: Sequence[Hashable] = ()
) -> Floats:
    """Return (B,): how much better each episode did than its group (GRPO, arXiv:2402.03300, section 4.1.2).

    The difference to the group's mean is divided by a standard deviation (scale), at least by `floor`, so that a group
    of nearly equal returns is not blown up: by that in the group (GRPO), by that of all the task's episodes, or by
    nothing (Dr. GRPO, arXiv:2503.20783).
    """
    advantages = np.zeros_like(returns)
    for number in np.unique(group):
        mine = group == number
        advantages[mine] = returns[mine] - returns[mine].mean()
    if scale == "none":
        return advantages
    labels = group if scale == "group" else np.unique(np.asarray(tasks), return_inverse=True)[1]
    for label in np.unique(labels):
        mine = labels == label
        std = returns[mine].std(ddof=1) if mine.sum() > 1 else 0.0
        advantages[mine] /= max(float(std), floor)
    return advantages


# Losses: weighted means, to be minimised


def policy_loss(ratio: Tensor, advantages: Tensor, weights: Tensor, config: Grpo | Ppo) -> Tensor:
    """Return the clipped surrogate (Schulman et al. 2017, arXiv:1707.06347, equation 7, with the sign turned).

    The two sides have bounds of their own (DAPO, arXiv:2503.14476, equation 10), and so may bad actions (dual clip,
    Ye et al. 2020, arXiv:1912.09729, equation 5).
    """
    clip_coef = 1 - config.clip_ratio_low, 1 + config.clip_ratio_high
    loss = torch.maximum(-advantages * ratio, -advantages * ratio.clamp(*clip_coef))
    if (dual_clip := config.clip_ratio_c) is not None:
        loss = torch.where(advantages < 0, torch.minimum(loss, -advantages * dual_clip), loss)
    return weighted_mean(loss, weights)


def value_loss(values: Tensor, batch: Batch, weights: Tensor, config: Ppo) -> Tensor:
    """Return the Huber loss of values, the larger of the plain one and of one whose step was clipped."""
    loss = huber_loss(values, batch.returns, reduction="none", delta=config.huber_delta)
    if config.value_clip is not None:
        step = (values - batch.values).clamp(-config.value_clip, config.value_clip)
        clipped = huber_loss(batch.values + step, batch.returns, reduction="none", delta=config.huber_delta)
        loss = torch.maximum(loss, clipped)
    return weighted_mean(loss, weights)


# The update

Evaluate = Callable[[Tensor, Tensor], PolicyEvaluation]
"""Evaluates tokens after observations, as `StochasticPolicy.evaluate` does."""


class Learner:
    """A policy, its optimiser, and the policy that it began with."""

    def __init__(
        self,
        policy: StochasticPolicy,
        config: Grpo | Ppo,
        optim: Optim,
        minibatch_size: int,
        evaluate: Evaluate | None = None,
    ) -> None:
        """Begin.

        Args:
            policy: is changed in place.
            config: the algorithm.
            optim: learning rates.
            minibatch_size: decisions of one optimiser step.
            evaluate: evaluates a minibatch; absent: the policy by itself.
        """
        self._evaluate = evaluate or policy.evaluate
        self.policy, self._config, self._optim, self._minibatch_size = policy, config, optim, minibatch_size
        parameters = [{"params": list(policy.actor_parameters()), "lr": optim.lr}]
        if optim.value_lr is not None:
            parameters.append({"params": list(policy.critic_parameters()), "lr": optim.value_lr})
        self.optimiser = torch.optim.Adam(parameters)
        self._base = copy.deepcopy(policy) if config.kl_beta else None

    def update(self, batch: Batch, number: int, seed: int) -> dict[str, float]:
        """Learn from a batch and return `train/*`, means over the optimiser's steps.

        Args:
            batch: made by the policy as it is now.
            number: of the update, counted from 0.
            seed: with the number it fixes the order of decisions.
        """
        rng = np.random.default_rng([seed, number])
        critic_only = isinstance(self._config, Ppo) and number < self._config.critic_warmup_steps
        with torch.no_grad():
            base = self._base.evaluate(batch.observations, batch.tokens).logprobs if self._base else None
        steps: list[dict[str, float]] = []
        epochs = 0
        while epochs < self._config.update_epoch:
            first, epochs = len(steps), epochs + 1
            order = torch.from_numpy(rng.permutation(len(batch)))
            for rows in torch.split(order, self._minibatch_size):
                base_rows = None if base is None else base[rows]
                steps.append(self._step(batch[rows], base_rows, critic_only=critic_only))
            kl = metrics.mean_of(steps[first:])["train/actor/approx_kl"]
            if self._config.target_kl is not None and kl > self._config.target_kl:
                break
        return {
            **metrics.mean_of(steps),
            "train/actor/lr": self._optim.lr,
            "train/update_epochs": epochs,
            "train/kl_last_epoch": kl,
        }

    def _step(self, minibatch: Batch, base: Tensor | None, *, critic_only: bool) -> dict[str, float]:
        """Take one step of the optimiser and return its metrics."""
        config, level, token_weights = self._config, self._config.logprob_type, minibatch.weights[..., None]
        new = self._evaluate(minibatch.observations, minibatch.tokens)
        new_logprobs = reductions.reduce_logprobs(new.logprobs, minibatch.executed, level)
        old_logprobs = reductions.reduce_logprobs(minibatch.logprobs, minibatch.executed, level)
        logratio = new_logprobs - old_logprobs
        advantages = minibatch.advantages[..., None]
        weights = reductions.reduce_weights(minibatch.weights, level)
        pg_loss = policy_loss(logratio.exp(), advantages, weights, config)
        entropy = weighted_mean(new.entropy, token_weights)
        loss = pg_loss - config.entropy_bonus * entropy
        found = {"train/actor/policy_loss": pg_loss.item(), "train/entropy_loss": entropy.item()}
        if base is not None:
            kl_to_base = weighted_mean(metrics.approx_kl(base - new.logprobs), token_weights)
            loss = loss + config.kl_beta * kl_to_base
            found["train/actor/kl_to_base"] = kl_to_base.item()
        if critic_only:
            loss = 0.0 * loss
        if isinstance(config, Ppo):
            has_steps = new.values.shape[-1] > 1
            value_weights = minibatch.weights if has_steps else minibatch.weights.sum(-1, keepdim=True)
            v_loss = value_loss(new.values, minibatch, value_weights, config)
            loss = loss + v_loss
            found["train/critic/value_loss"] = v_loss.item()
            found |= metrics.critic_metrics(
                new.values, minibatch.values, minibatch.returns, value_weights, config.value_clip
            )
        found["train/loss"] = loss.item()
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        parameters = [p for group in self.optimiser.param_groups for p in group["params"]]
        found["train/actor/grad_norm"] = float(clip_grad_norm_(parameters, self._optim.clip_grad))
        self.optimiser.step()
        return found | metrics.policy_metrics(logratio, advantages, weights, config)
