"""Metrics of an update, under RLinf's names.

Ratios are measured before they are clipped, and means have the weights of the loss, so neither padding nor the number
of tokens in an action changes a metric.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from openral_training.rl.algorithm.reductions import weighted_mean
from openral_training.rl.settings.algorithm import Grpo, Ppo


def approx_kl(logratio: Tensor) -> Tensor:
    """Return an estimate >= 0 of KL(p || q), for tokens that were drawn from p and logratio log q - log p.

    It is unbiased and has a low variance (Schulman 2020, http://joschu.net/blog/kl-approx.html). Equation 4 of GRPO,
    arXiv:2402.03300, is the same estimate.
    """
    return logratio.exp() - 1 - logratio


@torch.no_grad()
def policy_metrics(
    logratio: Tensor, advantages: Tensor, weights: Tensor, config: Grpo | Ppo
) -> dict[str, float]:
    """Return the metrics `train/actor/*` of one minibatch; see `ppo.policy_loss` for the arguments.

    approx_kl is the mean over ratios, so its level is that of the log-probabilities. A ratio counts as clipped where
    clipping makes its gradient 0: above the upper bound for a positive advantage, below the lower one for a negative
    one.
    """
    ratio, low, high = logratio.exp(), 1 - config.clip_ratio_low, 1 + config.clip_ratio_high
    positive = (advantages > 0).expand_as(ratio)
    negative = (advantages < 0).expand_as(ratio)
    found = {
        "ratio": ratio,
        "ratio_abs": (ratio - 1).abs(),
        "clipped_ratio": ratio.clamp(low, high),
        "clip_fraction": ((positive & (ratio > high)) | (negative & (ratio < low))).to(ratio.dtype),
        "approx_kl": approx_kl(logratio),
    }
    if config.clip_ratio_c is not None:
        found["dual_clip_fraction"] = (negative & (ratio > config.clip_ratio_c)).to(ratio.dtype)
    return {f"train/actor/{name}": weighted_mean(value, weights).item() for name, value in found.items()}


@torch.no_grad()
def critic_metrics(
    values: Tensor, old_values: Tensor, returns: Tensor, weights: Tensor, value_clip: float | None
) -> dict[str, float]:
    """Return the metrics `train/critic/*` of one minibatch: the explained variance, and the share of clipped values."""
    found = {"explained_variance": explained_variance(values, returns, weights)}
    if value_clip is not None:
        beyond = ((values - old_values).abs() > value_clip).to(values.dtype)
        found["value_clip_ratio"] = weighted_mean(beyond, weights).item()
    return {f"train/critic/{name}": value for name, value in found.items()}


def explained_variance(values: Tensor, returns: Tensor, weights: Tensor) -> float:
    """Return 1 - Var(returns - values) / Var(returns): 1 is perfect, 0 as good as the mean; nan for equal returns."""
    variance = _variance(returns, weights)
    return float("nan") if variance == 0 else 1 - _variance(returns - values, weights) / variance


def _variance(values: Tensor, weights: Tensor) -> float:
    mean = weighted_mean(values, weights)
    return weighted_mean((values - mean) ** 2, weights).item()


def advantage_metrics(advantages: NDArray[np.float64], weights: NDArray[np.float64]) -> dict[str, float]:
    """Return the metrics `rollout/advantages_*`, weighted as in the loss: 0 where a step was not executed."""
    mask = weights > 0
    executed = np.broadcast_to(advantages, mask.shape)[mask]
    return {
        "rollout/advantages_mean": float(np.average(executed, weights=weights[mask])),
        "rollout/advantages_max": float(executed.max()),
        "rollout/advantages_min": float(executed.min()),
    }


def mean_of(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each metric over the rows in which it is not nan; nan where there is no such row."""
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row[name] for row in rows if name in row and not np.isnan(row[name])] for name in names}
    return {name: float(np.mean(found)) if found else float("nan") for name, found in columns.items()}
