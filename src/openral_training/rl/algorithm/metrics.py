"""What is looked at while a policy learns, under the names that RLinf's users know.

Fractions are taken before anything is clamped, and means run over what a step really decided: weights are those of the
loss, so neither padding nor the number of tokens in an action inflates a figure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from openral_training.rl.algorithm.losses import Clip, kl_estimate, weighted_mean


@torch.no_grad()
def actor_metrics(
    logprobs: Tensor, behaviour: Tensor, advantages: Tensor, weights: Tensor, clip: Clip
) -> dict[str, float]:
    """Return `train/actor/*` of one minibatch; see `losses.actor_loss` for the arguments.

    approx_kl is the mean over ratios, so its grain is that of the log-probabilities. A ratio counts as clipped where
    the bound takes its gradient away: above for a good action, below for a bad one.
    """
    ratio = (logprobs - behaviour).exp()
    good = (advantages > 0).expand_as(ratio)
    bad = (advantages < 0).expand_as(ratio)
    clipped = (good & (ratio > 1 + clip.high)) | (bad & (ratio < 1 - clip.low))
    found = {
        "ratio": ratio,
        "ratio_abs": (ratio - 1).abs(),
        "clipped_ratio": ratio.clamp(1 - clip.low, 1 + clip.high),
        "clip_fraction": clipped.to(ratio.dtype),
        "approx_kl": kl_estimate(behaviour, logprobs),
    }
    if clip.dual is not None:
        found["dual_clip_fraction"] = (bad & (ratio > clip.dual)).to(ratio.dtype)
    return {f"train/actor/{name}": weighted_mean(value, weights).item() for name, value in found.items()}


@torch.no_grad()
def critic_metrics(
    values: Tensor, behaviour: Tensor, returns: Tensor, weights: Tensor, clip: float | None
) -> dict[str, float]:
    """Return `train/critic/*` of one minibatch; see `losses.critic_loss` for the arguments."""
    found = {"explained_variance": explained_variance(values, returns, weights)}
    if clip is not None:
        beyond = ((values - behaviour).abs() > clip).to(values.dtype)
        found["value_clip_ratio"] = weighted_mean(beyond, weights).item()
    return {f"train/critic/{name}": value for name, value in found.items()}


def explained_variance(values: Tensor, returns: Tensor, weights: Tensor) -> float:
    """Return 1 - Var(returns - values) / Var(returns): 1 is perfect, 0 knows the mean; nan: no spread."""
    spread = _variance(returns, weights)
    return float("nan") if spread == 0 else 1 - _variance(returns - values, weights) / spread


def _variance(values: Tensor, weights: Tensor) -> float:
    mean = weighted_mean(values, weights)
    return weighted_mean((values - mean) ** 2, weights).item()


def advantage_metrics(advantages: NDArray[np.float64], lived: NDArray[np.bool_]) -> dict[str, float]:
    """Return `rollout/advantages_*` over the steps that were lived."""
    mine = np.broadcast_to(advantages, lived.shape)[lived]
    return {
        "rollout/advantages_mean": float(mine.mean()),
        "rollout/advantages_max": float(mine.max()),
        "rollout/advantages_min": float(mine.min()),
    }


def mean_of(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each figure over the rows that have it, nan left out; nan where none has a number."""
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row[name] for row in rows if name in row and not np.isnan(row[name])] for name in names}
    return {name: float(np.mean(found)) if found else float("nan") for name, found in columns.items()}
