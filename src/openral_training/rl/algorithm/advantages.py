"""Advantages: how much better an action did than was expected, by a critic (PPO) or by its group (GRPO)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from openral_training.rl.algorithm import episode_arrays as arrays
from openral_training.rl.settings.algorithm import Scale

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


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
    advantages: Floats, weights: Floats, labels: Sequence[Hashable] | None = None, floor: float = 1e-5
) -> Floats:
    """Return advantages (T, B) of mean 0 and standard deviation 1 under the weights of the loss that uses them.

    Under other weights the loss would not be centred: a long episode has more steps than a short one, and counts the
    same. With labels (B,) each task is normalised by itself, so that an easy one does not set the scale of a hard one.

    Args:
        advantages: as `gae` returns them.
        weights: (T, B) of the loss; 0 where a step was not lived.
        labels: of the episodes.
        floor: added to the standard deviation.
    """
    scaled = np.zeros_like(advantages)
    names = ["all"] * advantages.shape[1] if labels is None else list(labels)
    for name in dict.fromkeys(names):
        columns = [index for index, label in enumerate(names) if label == name]
        mine, weight = advantages[:, columns], weights[:, columns]
        mean = np.average(mine, weights=weight)
        std = np.sqrt(np.average((mine - mean) ** 2, weights=weight))
        scaled[:, columns] = (mine - mean) / (std + floor)
    return np.where(weights > 0, scaled, 0.0)


def group_relative(
    returns: Floats, group: NDArray[np.int64], *, scale: Scale, floor: float, tasks: Sequence[Hashable] = ()
) -> Floats:
    """Return (B,): how much better each episode did than its group (GRPO, arXiv:2402.03300, section 4.1.2).

    The difference to the group's mean is divided by a standard deviation (scale), at least by `floor`, so that a group
    of nearly equal returns is not blown up: by that in the group (GRPO), by that of all the task's episodes, or by
    nothing (Dr. GRPO, Liu et al. 2025, arXiv:2503.20783, equation 3; see `batch.grpo_batch` for its other half).
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
