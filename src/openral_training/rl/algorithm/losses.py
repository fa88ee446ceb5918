"""The terms of PPO's and GRPO's loss. Each is a weighted mean; the weights carry masks and trajectory lengths.

Clipping comes from PPO (Schulman et al. 2017, arXiv:1707.06347), the two sides of it with bounds of their own from
DAPO (arXiv:2503.14476, equation 10).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Clip:
    """How far a probability ratio counts."""

    low: float
    """The ratio counts as no less than 1 - low."""
    high: float
    """And as no more than 1 + high."""
    dual: float | None = None
    """Bound > 1 of the ratio where the advantage is negative (Ye et al. 2020, arXiv:1912.09729, equation 5)."""


def weighted_mean(values: Tensor, weights: Tensor) -> Tensor:
    """Return the mean of `values` under `weights`, which broadcast against them."""
    spread = weights.expand_as(values)
    return (values * spread).sum() / spread.sum()


def actor_loss(
    logprobs: Tensor, behaviour: Tensor, advantages: Tensor, weights: Tensor, clip: Clip
) -> Tensor:
    """Return the clipped surrogate, to be minimised (arXiv:1707.06347, equation 7, with the sign turned).

    Args:
        logprobs: of the policy that is learnt, at any grain.
        behaviour: of the policy that acted, the same shape, without gradient.
        advantages: broadcast against them.
        weights: broadcast against them.
        clip: how far the ratio counts.
    """
    ratio = (logprobs - behaviour).exp()
    loss = torch.maximum(-advantages * ratio, -advantages * ratio.clamp(1 - clip.low, 1 + clip.high))
    if clip.dual is not None:
        bounded = torch.minimum(loss, -advantages * clip.dual)
        loss = torch.where(advantages < 0, bounded, loss)
    return weighted_mean(loss, weights)


def critic_loss(
    values: Tensor,
    behaviour: Tensor,
    returns: Tensor,
    weights: Tensor,
    *,
    clip: float | None,
    huber_delta: float,
) -> Tensor:
    """Return the Huber loss of values, the larger of the plain one and of one whose step was clipped.

    Args:
        values: of the critic that is learnt.
        behaviour: what it said when the policy acted, without gradient.
        returns: what came.
        weights: broadcast against them.
        clip: most that a value may have moved, as in PPO's first implementation; None: no bound.
        huber_delta: error above which the loss grows linearly.
    """
    loss = torch.nn.functional.huber_loss(values, returns, reduction="none", delta=huber_delta)
    if clip is not None:
        moved = behaviour + (values - behaviour).clamp(-clip, clip)
        clipped = torch.nn.functional.huber_loss(moved, returns, reduction="none", delta=huber_delta)
        loss = torch.maximum(loss, clipped)
    return weighted_mean(loss, weights)


def kl_estimate(own: Tensor, other: Tensor) -> Tensor:
    """Return an estimate >= 0 of KL(own || other) for tokens sampled from `own`: r - 1 - log r, r = other / own.

    Unbiased and of low variance (Schulman 2020, http://joschu.net/blog/kl-approx.html; GRPO's equation 4 is it).

    Args:
        own: log-probabilities under the policy that sampled.
        other: of the same tokens under the other policy.
    """
    log_ratio = other - own
    return log_ratio.exp() - 1 - log_ratio
