"""At which grain a decision is judged: its tokens one by one, its control steps, or the whole chunk.

A decision is C control steps of A numbers; each number is one token. Finer log-probabilities clip each token by itself,
coarser ones the decision as a whole. Rewards have a grain, too: one of each control step, or one of the chunk.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

LogprobLevel = Literal["token", "action", "chunk"]
RewardLevel = Literal["action", "chunk"]


def reduce_logprobs(logprobs: Tensor, executed: Tensor, level: LogprobLevel) -> Tensor:
    """Return log-probabilities at a grain: (..., C, A) tokens to (..., C, A), (..., C, 1) or (..., 1, 1).

    The probability of independent tokens is their product, so coarser grains are sums. Steps that were not executed
    (the episode ended within the chunk) decided nothing and are left out of a chunk's sum.

    Args:
        logprobs: (..., C, A)
        executed: (..., C) whether the step was executed.
        level: grain of the probability ratio.
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
        level: grain of the probability ratio.
    """
    steps = weights[..., None]
    return steps.sum(-2, keepdim=True) if level == "chunk" else steps


def reduce_rewards(
    rewards: NDArray[np.float64], executed: NDArray[np.bool_], level: RewardLevel
) -> NDArray[np.float64]:
    """Return (T, B, C) rewards at a grain: as they are, or (T, B, 1) summed over the chunk's executed steps."""
    rewards = np.where(executed, rewards, 0.0)
    return rewards if level == "action" else rewards.sum(-1, keepdims=True)


def reduce_any(steps: NDArray[np.bool_], level: RewardLevel) -> NDArray[np.bool_]:
    """Return (T, B, C) flags at a grain: as they are, or (T, B, 1) whether any step of the chunk has it."""
    return steps if level == "action" else np.any(steps, axis=-1, keepdims=True)
