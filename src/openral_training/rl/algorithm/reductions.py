"""Levels at which a decision is treated: its tokens, its control steps (actions), or the whole chunk.

A decision is C control steps of A numbers; each number is one token. The level of log-probabilities is the
unit that has one probability ratio, which is clipped as a whole. The level of rewards is the unit that has one reward:
a control step or a chunk.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from openral_training.rl.settings.algorithm import LogprobLevel, RewardLevel


def reduce_logprobs(logprobs: Tensor, executed: Tensor, level: LogprobLevel) -> Tensor:
    """Return log-probabilities at a level: (..., C, A) tokens to (..., C, A), (..., C, 1) or (..., 1, 1).

    The probability of independent tokens is their product, so coarser levels are sums. Steps that were not executed,
    since the episode ended within the chunk, had no effect and are left out of a chunk's sum.

    Args:
        logprobs: (..., C, A)
        executed: (..., C) whether the step was executed.
        level: of the probability ratio.
    """
    if level == "token":
        return logprobs
    steps = logprobs.sum(-1, keepdim=True)
    if level == "action":
        return steps
    return (steps * executed[..., None]).sum(-2, keepdim=True)


def reduce_weights(weights: Tensor, level: LogprobLevel) -> Tensor:
    """Return the weights of ratios, of a shape that broadcasts with `reduce_logprobs`: (..., C, 1) or (..., 1, 1).

    Args:
        weights: (..., C) of control steps; 0 where a step was not executed.
        level: of the probability ratio.
    """
    steps = weights[..., None]
    return steps.sum(-2, keepdim=True) if level == "chunk" else steps


def reduce_rewards(
    rewards: NDArray[np.float64], executed: NDArray[np.bool_], level: RewardLevel
) -> NDArray[np.float64]:
    """Return (T, B, C) rewards at a level: as they are, or (T, B, 1) summed over the chunk's executed steps."""
    rewards = np.where(executed, rewards, 0.0)
    return rewards if level == "action" else rewards.sum(-1, keepdims=True)


def reduce_any(steps: NDArray[np.bool_], level: RewardLevel) -> NDArray[np.bool_]:
    """Return (T, B, C) flags at a level: as they are, or (T, B, 1) whether any step of the chunk has the flag."""
    return steps if level == "action" else np.any(steps, axis=-1, keepdims=True)


def reduce_discount(gamma: float, executed: NDArray[np.bool_], level: RewardLevel) -> NDArray[np.float64]:
    """Return the discount of each step at a level: (T, B, C) gamma, or (T, B, 1) gamma ** (executed / C).

    At the level of chunks gamma is the discount of C control steps. A chunk that ends after k of them lasts k / C as
    long (an option of k steps is discounted by the power of k: Sutton et al. 1999, "Between MDPs and semi-MDPs",
    section 2).

    Args:
        gamma: discount of one whole step of the level.
        executed: (T, B, C) control steps that were executed.
        level: of rewards.
    """
    if level == "action":
        return np.full(executed.shape, gamma)
    discounts: NDArray[np.float64] = gamma ** executed.mean(-1, keepdims=True)
    return discounts


def weighted_mean(values: Tensor, weights: Tensor) -> Tensor:
    """Return the mean of `values` under `weights`, which broadcast against them."""
    weights = weights.expand_as(values)
    return (values * weights).sum() / weights.sum()
