"""Groups: episodes of GRPO that begin in the same state and are compared with each other."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import ContractError
from openral_training.rl.envs.episode_trajectory import Trajectory
from openral_training.rl.settings.algorithm import Grpo


def group_numbers(trajectories: Sequence[Trajectory]) -> NDArray[np.int64]:
    """Return (B,) the number of each trajectory's group."""
    return np.array([trajectory.request.group for trajectory in trajectories])


def returns_of(trajectories: Sequence[Trajectory]) -> NDArray[np.float64]:
    """Return (B,) the sum of each trajectory's rewards."""
    return np.array([trajectory.rewards.sum() for trajectory in trajectories])


def in_informative_group(trajectories: Sequence[Trajectory], config: Grpo) -> NDArray[np.bool_]:
    """Return (B,) whether a trajectory's group is informative.

    Raises:
        ContractError: a group mixes tasks or initial states, or is not whole.
    """
    groups = group_numbers(trajectories)
    check_groups(groups, [(t.request.task, t.state_digest) for t in trajectories], config.group_size)
    return is_informative(returns_of(trajectories), groups, *config.informative)


def is_informative(
    returns: NDArray[np.float64], groups: NDArray[np.int64], low: float = 0.0, high: float = 1.0
) -> NDArray[np.bool_]:
    """Return (B,): whether the mean return of an episode's group is strictly between two bounds.

    With a reward of 1 for success the mean is the group's success rate. A group of successes only, or of failures
    only, has no advantages (DAPO, arXiv:2503.14476, section 3.2).
    """
    means = {group: returns[groups == group].mean() for group in np.unique(groups)}
    return np.array([low < means[group] < high for group in groups], dtype=np.bool_)


def check_groups(groups: NDArray[np.int64], states: Sequence[Hashable], size: int) -> None:
    """Check that the episodes of each group began in the same state: only then is their mean a baseline.

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
