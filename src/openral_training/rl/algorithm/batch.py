"""The batch of an update: decisions of all episodes, with their advantages and weights.

An episode is T decisions, each a chunk of C control steps with A numbers (tokens) per step. Arrays of episodes are
(T, B, ...), with one column per episode; a batch is (N, ...), with one row per decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from openral_training.rl.algorithm import episode_arrays as arrays
from openral_training.rl.algorithm import groups, metrics, reductions
from openral_training.rl.algorithm.advantages import Bools, Floats, gae, group_relative, normalised
from openral_training.rl.envs.episode_trajectory import Trajectory
from openral_training.rl.envs.shaping import potential_differences
from openral_training.rl.settings.algorithm import Grpo, Ppo

Potentials = Sequence[Floats] | None


@dataclass(frozen=True)
class Batch:
    """N decisions of all episodes, in any order."""

    observations: Tensor
    """(N, D)"""
    tokens: Tensor
    """(N, C, A)"""
    logprobs: Tensor
    """(N, C, A) under the policy that acted."""
    executed: Tensor
    """(N, C) 1 where a control step was executed, else 0."""
    advantages: Tensor
    """(N, C) for rewards of control steps, (N, 1) for rewards of chunks."""
    weights: Tensor
    """(N, C) of control steps in the loss, 0 where a step was not executed. The steps of an episode add up to 1, see
    `episode_arrays.trajectory_weights`; with scale `none` every step has the same weight, see `grpo_batch`."""
    values: Tensor
    """(N, V) of the critic when the policy acted."""
    returns: Tensor
    """(N, V); zeros without a critic."""

    def __len__(self) -> int:
        return len(self.observations)

    def __getitem__(self, rows: Tensor) -> Batch:
        return Batch(**{field.name: getattr(self, field.name)[rows] for field in fields(self)})

    def to(self, device: str) -> Batch:
        """Return the batch on a torch device."""
        return Batch(**{field.name: getattr(self, field.name).to(device) for field in fields(self)})


def ppo_batch(
    trajectories: Sequence[Trajectory], config: Ppo, potentials: Potentials = None
) -> tuple[Batch, dict[str, float]]:
    """Return the batch of a PPO update, and the metrics `rollout/*`.

    Args:
        trajectories: with `final_value`, from which truncated episodes are bootstrapped.
        config: the algorithm.
        potentials: (T + 1,) of each trajectory; their differences are added to the rewards, see `shaping`.
    """
    level = config.reward_type
    executed, solved = _padded(trajectories, "executed"), np.array([t.success for t in trajectories])
    mask = reductions.reduce_any(executed, level)
    rewards = reductions.reduce_rewards(_padded(trajectories, "rewards"), executed, level)
    discounts = reductions.reduce_discount(config.gamma, executed, level)
    if potentials is not None:
        rewards = rewards + potential_differences(arrays.padded(potentials), mask, solved, gamma=discounts)
    values = _padded(trajectories, "values").astype(np.float64)
    last_steps = arrays.last_steps(arrays.flat_time(mask))
    terminated = np.array([t.terminated for t in trajectories])
    advantages, returns = gae(
        arrays.flat_time(rewards),
        arrays.flat_time(values),
        last_steps & terminated,
        last_steps & ~terminated,
        np.array([t.final_value for t in trajectories]),
        gamma=arrays.flat_time(discounts),
        gae_lambda=config.gae_lambda,
    )
    tasks = [t.request.task for t in trajectories] if config.scale == "task" else None
    weights = arrays.trajectory_weights(executed)
    step_weights = arrays.flat_time(weights if level == "action" else weights.sum(-1, keepdims=True))
    advantages = normalised(advantages, step_weights, tasks)
    columns = [arrays.unflat_time(steps, mask.shape) for steps in (advantages, returns)]
    batch = _batch(trajectories, executed, weights, *columns)
    return batch, metrics.advantage_metrics(advantages, step_weights)


def grpo_batch(
    trajectories: Sequence[Trajectory], config: Grpo, *, horizon: int
) -> tuple[Batch | None, dict[str, float]]:
    """Return the batch of a GRPO update, and the metrics `rollout/*`; the batch is None if no group is informative.

    With scale `none` it is Dr. GRPO (Liu et al. 2025, arXiv:2503.20783, equation 3): advantages are not divided by a
    standard deviation, and an episode's sum over steps is divided by a constant, the horizon, in place of its length.

    Args:
        trajectories: of whole groups.
        config: the algorithm.
        horizon: control steps after which an episode is truncated.

    Raises:
        ContractError: a group mixes tasks or initial states, or is not whole.
    """
    is_informative = groups.in_informative_group(trajectories, config)
    informative = [t for t, keep in zip(trajectories, is_informative, strict=True) if keep]
    if not informative:
        return None, {}
    tasks, group = [t.request.task for t in informative], groups.group_numbers(informative)
    returns = groups.returns_of(informative)
    advantages = group_relative(returns, group, scale=config.scale, floor=config.std_floor, tasks=tasks)
    executed = _padded(informative, "executed")
    mask = reductions.reduce_any(executed, config.reward_type)
    step_advantages = np.where(mask, advantages[None, :, None], 0.0)
    if config.scale == "none":
        weights = executed * (int(executed.any(-1).sum()) / (len(informative) * horizon))
    else:
        weights = arrays.trajectory_weights(executed)
    batch = _batch(informative, executed, weights, step_advantages, np.zeros((*executed.shape[:2], 1)))
    return batch, metrics.advantage_metrics(advantages[:, None], weights)


def _batch(
    trajectories: Sequence[Trajectory], executed: Bools, weights: Floats, advantages: Floats, returns: Floats
) -> Batch:
    """Return the decisions of all episodes as rows; arrays are (T, B, ...)."""
    made = executed.any(-1)

    def rows(array: NDArray[np.generic]) -> Tensor:
        return torch.from_numpy(array[made].astype(np.float32))

    return Batch(
        observations=torch.from_numpy(_padded(trajectories, "observations")[made]),
        tokens=rows(_padded(trajectories, "tokens")),
        logprobs=rows(_padded(trajectories, "logprobs")),
        executed=rows(executed),
        advantages=rows(advantages),
        weights=rows(weights),
        values=rows(_padded(trajectories, "values")),
        returns=rows(returns),
    )


def _padded(trajectories: Sequence[Trajectory], name: str) -> NDArray[Any]:
    return arrays.padded([getattr(trajectory, name) for trajectory in trajectories])
