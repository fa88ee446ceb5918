"""How much better than expected: generalised advantage estimation, and comparison within a group.

All arrays have time first and one column an episode. What lies after an episode's end is ignored and comes back as 0.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import ContractError
from openral_training.rl.algorithm.masks import until_done

Floats = NDArray[np.float64]
Scale = Literal["group", "task", "none"]


def gae(
    rewards: Floats,
    values: Floats,
    terminated: NDArray[np.bool_],
    truncated: NDArray[np.bool_],
    final_values: Floats,
    *,
    gamma: float,
    lam: float,
) -> tuple[Floats, Floats]:
    """Return advantages and returns (T, B), see Schulman et al. 2016, arXiv:1506.02438, equations 11, 12 and 16.

    An episode that ran out of time is not over for its value: the value of its last observation stands for what would
    have come (Pardo et al. 2018, arXiv:1712.00378, equation 6). One that terminated has nothing to come.

    Args:
        rewards: (T, B)
        values: (T, B) of the observation before each step.
        terminated: (T, B) the episode came to its end in this step.
        truncated: (T, B) it was cut off after this step.
        final_values: (B,) of the observation after the last step; used where an episode was truncated, or where the
            array ends before the episode.
        gamma: discount of one step, 0 to 1.
        lam: lambda, 0 (one step, biased) to 1 (the whole return, noisy).
    """
    done = terminated | truncated
    lived = until_done(done)
    following = np.concatenate([values[1:], final_values[None]])
    following = np.where(truncated, final_values, np.where(terminated, 0.0, following))
    delta = rewards + gamma * following - values
    advantages = np.zeros_like(delta)
    carried = np.zeros_like(final_values)
    for step in reversed(range(len(rewards))):
        carried = delta[step] + gamma * lam * np.where(done[step], 0.0, carried)
        advantages[step] = carried
    return np.where(lived, advantages, 0.0), np.where(lived, advantages + values, 0.0)


def normalised(
    advantages: Floats,
    lived: NDArray[np.bool_],
    labels: Sequence[Hashable] | None = None,
    floor: float = 1e-5,
) -> Floats:
    """Return advantages of mean 0 and standard deviation 1 over all steps that were lived.

    Args:
        advantages: (T, B) or (T, B, C)
        lived: of the same shape.
        labels: B tasks; each is normalised by itself, so that an easy task does not set the scale of a hard one.
            None: all together.
        floor: added to the standard deviation, as in PPO's usual implementations.
    """
    scaled = np.zeros_like(advantages)
    names = ["all"] * advantages.shape[1] if labels is None else list(labels)
    for name in dict.fromkeys(names):
        columns = [index for index, label in enumerate(names) if label == name]
        mine = advantages[:, columns][lived[:, columns]]
        scaled[:, columns] = (advantages[:, columns] - mine.mean()) / (mine.std() + floor)
    return np.where(lived, scaled, 0.0)


def group_relative(
    returns: Floats, groups: NDArray[np.int64], *, scale: Scale, floor: float, tasks: Sequence[Hashable] = ()
) -> Floats:
    """Return (B,): how much better each episode did than its group (GRPO, arXiv:2402.03300, section 4.1.2).

    Args:
        returns: (B,) sum of an episode's rewards.
        groups: (B,) number of the group of each; see `check_groups`.
        scale: what the difference to the mean is divided by: the standard deviation in the group (GRPO), that of all
            the task's episodes, or nothing (Dr. GRPO, arXiv:2503.20783).
        floor: least divisor, so that a group of nearly equal returns is not blown up.
        tasks: (B,) for the scale "task".
    """
    advantages = np.zeros_like(returns)
    for group in np.unique(groups):
        mine = groups == group
        advantages[mine] = returns[mine] - returns[mine].mean()
    if scale == "none":
        return advantages
    labels = groups if scale == "group" else np.unique(np.asarray(tasks), return_inverse=True)[1]
    for label in np.unique(labels):
        mine = labels == label
        spread = returns[mine].std(ddof=1) if mine.sum() > 1 else 0.0
        advantages[mine] /= max(float(spread), floor)
    return advantages


def check_groups(groups: NDArray[np.int64], states: Sequence[Hashable], size: int) -> None:
    """Check that the episodes of each group began alike: only then is their mean what was to be expected.

    Args:
        groups: (B,) number of the group of each episode.
        states: (B,) task and digest of the initial state of each.
        size: episodes of a group.

    Raises:
        ContractError: a group mixes tasks or initial states, or is not whole.
    """
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        found = {states[int(member)] for member in members}
        if len(found) > 1:
            raise ContractError(
                f"group {group} mixes {len(found)} tasks or initial states; its episodes cannot be compared. "
                "The simulator must repeat a (task, init_id) to the byte"
            )
        if len(members) != size:
            raise ContractError(f"group {group} has {len(members)} episodes, algorithm.group_size is {size}")


def informative(
    returns: Floats, groups: NDArray[np.int64], low: float = 0.0, high: float = 1.0
) -> NDArray[np.bool_]:
    """Return (B,): whether an episode's group teaches something, its mean return strictly between two bounds.

    With a reward of 1 for success the mean is the group's success rate. A group of successes only, or of failures
    only, has no advantages (DAPO, arXiv:2503.14476, section 3.2).
    """
    means = {group: returns[groups == group].mean() for group in np.unique(groups)}
    return np.array([low < means[group] < high for group in groups], dtype=np.bool_)
