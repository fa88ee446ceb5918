"""Rewards on the way: what a reward model thinks that a decision brought, beside the simulator's success.

Progress is a potential, and what is paid is its difference (Ng et al. 1999, "Policy invariance under reward
transformations", section 3): what a detour earns it pays back, so the best policy stays the best one, however wrong
the model is. Between two images the potential is that of the last one; after success it is 0, for nothing follows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import ContractError
from openral_reward_monitor.models.reward_model import RewardModel, load_reward_model
from openral_rskill.registry import resolve
from openral_training.rl.envs.attempts import Trajectory
from openral_training.rl.settings.reward import ProgressReward


def potential_differences(
    potentials: NDArray[np.float64],
    lived: NDArray[np.bool_],
    solved: NDArray[np.bool_],
    *,
    gamma: float | NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return (T, B, C) gamma times the potential after each step less the one before it; 0 where nothing was lived.

    Args:
        potentials: (T + 1, B) before each decision and after the last one.
        lived: (T, B, C) steps; C is 1 for rewards of whole chunks.
        solved: (B,) whether the task was solved in the episode's last step.
        gamma: discount of each step, (T, B, C) or one for all.
    """
    before = np.broadcast_to(potentials[:-1, :, None], lived.shape)
    after = before.copy()
    for episode in range(lived.shape[1]):
        taken = np.flatnonzero(lived[:, episode].any(-1))
        for decision in taken:
            last = np.flatnonzero(lived[decision, episode])[-1]
            over = bool(solved[episode]) and decision == taken[-1]
            after[decision, episode, last] = 0.0 if over else potentials[decision + 1, episode]
    return np.where(lived, gamma * after - before, 0.0)


class ProgressModel:
    """A reward model that says how far episodes got."""

    def __init__(self, config: ProgressReward, words: Mapping[str, str]) -> None:
        """Load it into this process.

        Args:
            config: which, and what it pays.
            words: of each task.

        Raises:
            OpenralError: there is no such skill, or its model cannot be loaded.
        """
        self._model: RewardModel = load_reward_model(resolve(config.model_path))
        self._words, self._weight = dict(words), config.weight

    def potentials(self, trajectories: Sequence[Trajectory]) -> list[NDArray[np.float64]]:
        """Return (T + 1,) of each trajectory: its progress, 0..1, times the weight, from the images kept of it.

        Raises:
            ContractError: none were kept of one.
        """
        if not all(len(t.images) == len(t.tokens) + 1 for t in trajectories):
            raise ContractError("reward: these worlds keep no pictures of what is done in them; remove it")
        scores = (self._model.score(t.images, self._words[t.attempt.task]) for t in trajectories)
        return [self._weight * score.progress.astype(np.float64) for score in scores]

    def close(self) -> None:
        """Give up what the model holds; called once."""
        self._model.close()
