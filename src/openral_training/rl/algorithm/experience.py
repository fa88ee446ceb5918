"""From trajectories to what one update learns from: advantages, returns and weights of every decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from openral_training.rl.algorithm.advantages import (
    check_groups,
    gae,
    group_relative,
    informative,
    normalised,
)
from openral_training.rl.algorithm.masks import ScalarT, flat_time, trajectory_weights
from openral_training.rl.algorithm.metrics import advantage_metrics
from openral_training.rl.algorithm.reductions import reduce_any, reduce_rewards
from openral_training.rl.envs.attempts import Trajectory
from openral_training.rl.envs.shaping import potential_differences
from openral_training.rl.policies.policy import StochasticPolicy
from openral_training.rl.settings.algorithm import Grpo, Ppo


@dataclass(frozen=True)
class Experience:
    """N decisions of all episodes, ready to be learnt from in any order."""

    observations: Tensor
    """(N, D)"""
    tokens: Tensor
    """(N, C, A)"""
    logprobs: Tensor
    """(N, C, A) when they were drawn."""
    executed: Tensor
    """(N, C) 1 where a control step was executed, else 0."""
    advantages: Tensor
    """(N, C) or (N, 1), by the grain of rewards."""
    weights: Tensor
    """(N, C) by which every episode counts the same."""
    values: Tensor
    """(N, V) when they were drawn."""
    returns: Tensor
    """(N, V); zeros without a critic."""

    def __len__(self) -> int:
        return len(self.observations)

    def to(self, device: str) -> Experience:
        """Return it on a device of torch."""
        return Experience(**{field.name: getattr(self, field.name).to(device) for field in fields(self)})


def group_numbers(trajectories: Sequence[Trajectory]) -> NDArray[np.int64]:
    """Return (B,) the number of each trajectory's group."""
    return np.array([trajectory.attempt.group for trajectory in trajectories])


def returns_of(trajectories: Sequence[Trajectory]) -> NDArray[np.float64]:
    """Return (B,) the sum of each trajectory's rewards."""
    return np.array([trajectory.rewards.sum() for trajectory in trajectories])


def teaching(trajectories: Sequence[Trajectory], config: Grpo) -> NDArray[np.bool_]:
    """Return (B,) whether a trajectory's group teaches something. Raises ContractError where a group mixes states."""
    groups = group_numbers(trajectories)
    check_groups(groups, [(t.attempt.task, t.state) for t in trajectories], config.group_size)
    return informative(returns_of(trajectories), groups, *config.informative)


def grpo_experience(
    trajectories: Sequence[Trajectory], config: Grpo
) -> tuple[Experience | None, dict[str, float]]:
    """Return what groups teach, and `rollout/*`; None where no group teaches anything.

    Args:
        trajectories: whole groups.
        config: how they are compared.

    Raises:
        ContractError: a group mixes tasks or initial states.
    """
    kept = [t for t, teaches in zip(trajectories, teaching(trajectories, config), strict=True) if teaches]
    if not kept:
        return None, {}
    tasks = [trajectory.attempt.task for trajectory in kept]
    advantages = group_relative(
        returns_of(kept), group_numbers(kept), scale=config.scale, floor=config.std_floor, tasks=tasks
    )
    executed = _padded([t.executed for t in kept])
    spread = np.where(executed, advantages[None, :, None], 0.0)
    if config.reward_type == "chunk":
        spread = np.broadcast_to(advantages[None, :, None], (*executed.shape[:2], 1))
    made = _experience(kept, executed, spread, np.zeros((*executed.shape[:2], 1)))
    return made, advantage_metrics(advantages[None, :], np.ones((1, len(kept)), np.bool_))


def ppo_experience(
    trajectories: Sequence[Trajectory],
    policy: StochasticPolicy,
    config: Ppo,
    potentials: Sequence[NDArray[np.float64]] | None = None,
) -> tuple[Experience, dict[str, float]]:
    """Return what a critic's errors teach, and `rollout/*`.

    Args:
        trajectories: any.
        policy: whose critic expects what comes after the horizon.
        config: discounts.
        potentials: (T + 1,) of each trajectory, whose differences are paid beside the rewards; see `shaping`.
    """
    executed = _padded([t.executed for t in trajectories])
    final = policy.values(np.stack([t.last for t in trajectories]))[:, 0].astype(np.float64)
    rewards = reduce_rewards(_padded([t.rewards for t in trajectories]), executed, config.reward_type)
    values = _padded([t.values for t in trajectories]).astype(np.float64)
    lived = reduce_any(executed, config.reward_type)
    lived_steps = flat_time(lived)
    over = _last_of(lived_steps)
    solved = np.array([t.success for t in trajectories])
    ended = solved | np.array([t.lost for t in trajectories])
    if potentials is not None:
        rewards = rewards + potential_differences(_padded(potentials), lived, solved, gamma=config.gamma)
    advantages, returns = gae(
        flat_time(rewards),
        flat_time(values),
        over & ended,
        over & ~ended,
        final,
        gamma=config.gamma,
        lam=config.gae_lambda,
    )
    labels = [t.attempt.task for t in trajectories] if config.scale == "task" else None
    advantages = normalised(advantages, lived_steps, labels)
    metrics = advantage_metrics(advantages, lived_steps)
    shape = lived.shape
    made = _experience(trajectories, executed, _unflat(advantages, shape), _unflat(returns, shape))
    return made, metrics


def _padded(arrays: Sequence[NDArray[ScalarT]]) -> NDArray[ScalarT]:
    """Return B arrays (T, ...) as one (max T, B, ...), zeros after an episode's end."""
    out = np.zeros((max(map(len, arrays)), len(arrays), *arrays[0].shape[1:]), arrays[0].dtype)
    for column, array in enumerate(arrays):
        out[: len(array), column] = array
    return out


def _last_of(lived: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return (T, B) whether a step is the last that was lived."""
    last: NDArray[np.bool_] = lived & ~np.concatenate([lived[1:], np.zeros_like(lived[:1])])
    return last


def _unflat(steps: NDArray[np.float64], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Undo `flat_time`: (T·C, B) to (T, B, C)."""
    return np.moveaxis(steps.reshape(shape[0], shape[2], shape[1]), 1, 2)


def _experience(
    trajectories: Sequence[Trajectory],
    executed: NDArray[np.bool_],
    advantages: NDArray[np.float64],
    returns: NDArray[np.float64],
) -> Experience:
    """Lay the decisions of all episodes in one row; arrays are (T, B, ...)."""
    taken = executed.any(-1)

    def rows(array: NDArray[np.generic]) -> Tensor:
        return torch.from_numpy(array[taken].astype(np.float32))

    columns = {
        name: rows(_padded([getattr(t, name) for t in trajectories]))
        for name in ("tokens", "logprobs", "values")
    }
    seen = _padded([t.observations for t in trajectories])[taken]
    return Experience(
        observations=torch.from_numpy(seen),
        executed=rows(executed),
        advantages=rows(advantages),
        weights=rows(trajectory_weights(executed)),
        returns=rows(returns),
        **columns,
    )
