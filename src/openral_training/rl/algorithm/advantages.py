"""Advantages: the return of an action minus a baseline, which is a critic's value (PPO) or a group's mean (GRPO)."""

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

    After truncation the return is bootstrapped from the value of the last observation (Pardo et al. 2018,
    arXiv:1712.00378, equation 6); after termination it is not. Steps after an episode's end are 0.

    Args:
        rewards: (T, B)
        values: (T, B) of the observation before each step.
        terminated: (T, B) whether the episode terminated in this step.
        truncated: (T, B) whether it was truncated after this step.
        final_values: (B,) of the last observation.
        gamma: discount of each step, (T, B) or one for all.
        gae_lambda: 0 (one-step error, biased) to 1 (whole return, of high variance).
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
    mask = arrays.until_done(done)
    return np.where(mask, advantages, 0.0), np.where(mask, advantages + values, 0.0)


def normalised(
    advantages: Floats, weights: Floats, labels: Sequence[Hashable] | None = None, floor: float = 1e-5
) -> Floats:
    """Return advantages (T, B) of mean 0 and standard deviation 1 under the weights of the loss.

    The weights of the loss are needed since a long episode has more steps than a short one, but the same total weight:
    advantages that are centred under equal weights are not centred in the loss.

    Args:
        advantages: as `gae` returns them.
        weights: (T, B) of the loss; 0 where a step was not executed.
        labels: (B,) tasks, each of which is normalised by itself, so that easy tasks do not set the scale of hard ones;
            None: all episodes are normalised together.
        floor: added to the standard deviation.
    """
    scaled = np.zeros_like(advantages)
    names = ["all"] * advantages.shape[1] if labels is None else list(labels)
    for name in dict.fromkeys(names):
        columns = [index for index, label in enumerate(names) if label == name]
        part, weight = advantages[:, columns], weights[:, columns]
        mean = np.average(part, weights=weight)
        std = np.sqrt(np.average((part - mean) ** 2, weights=weight))
        scaled[:, columns] = (part - mean) / (std + floor)
    return np.where(weights > 0, scaled, 0.0)


def group_relative(
    returns: Floats, group: NDArray[np.int64], *, scale: Scale, floor: float, tasks: Sequence[Hashable] = ()
) -> Floats:
    """Return advantages (B,): each episode's return minus its group's mean (GRPO, arXiv:2402.03300, section 4.1.2).

    Args:
        returns: (B,)
        group: (B,) number of each episode's group.
        scale: the standard deviation that the difference is divided by: that of the group (GRPO), that of all episodes
            of the task, or none (Dr. GRPO, Liu et al. 2025, arXiv:2503.20783, equation 3; `batch.grpo_batch` has the
            weights of its loss).
        floor: least divisor, so that nearly equal returns do not become large advantages.
        tasks: (B,), needed for the scale `task`.
    """
    advantages = np.zeros_like(returns)
    for number in np.unique(group):
        members = group == number
        advantages[members] = returns[members] - returns[members].mean()
    if scale == "none":
        return advantages
    labels = group if scale == "group" else np.unique(np.asarray(tasks), return_inverse=True)[1]
    for label in np.unique(labels):
        members = labels == label
        std = returns[members].std(ddof=1) if members.sum() > 1 else 0.0
        advantages[members] /= max(float(std), floor)
    return advantages
