"""Reward shaping: differences of a reward model's progress, added to the simulator's reward for success.

Progress is taken as a potential (Ng et al. 1999, "Policy invariance under reward transformations", section 3), so the
optimal policy is the same with and without it, however wrong the model is. The model gets one image per decision;
between two images the potential is that of the earlier one. After success, where the episode terminates, it is 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import ContractError
from openral_reward_monitor.camera_views import cameras_needed
from openral_reward_monitor.models.reward_model import RewardModel, load_reward_model
from openral_rskill.registry import resolve
from openral_training.rl.envs.episode_trajectory import Trajectory
from openral_training.rl.settings.reward import ProgressReward


def potential_differences(
    potentials: NDArray[np.float64],
    mask: NDArray[np.bool_],
    solved: NDArray[np.bool_],
    *,
    gamma: float | NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return (T, B, C) gamma times the potential after each step minus the one before it; 0 where the mask is False.

    Args:
        potentials: (T + 1, B) before each decision and after the last one.
        mask: (T, B, C) executed steps; C is 1 for rewards of whole chunks.
        solved: (B,) whether the task was solved in the episode's last step.
        gamma: discount of each step, (T, B, C) or one for all.
    """
    before = np.broadcast_to(potentials[:-1, :, None], mask.shape)
    after = before.copy()
    for episode in range(mask.shape[1]):
        decisions = np.flatnonzero(mask[:, episode].any(-1))
        for decision in decisions:
            last_step = np.flatnonzero(mask[decision, episode])[-1]
            ends_solved = bool(solved[episode]) and decision == decisions[-1]
            after[decision, episode, last_step] = 0.0 if ends_solved else potentials[decision + 1, episode]
    return np.where(mask, gamma * after - before, 0.0)


class ProgressModel:
    """A reward model that scores the progress of trajectories."""

    def __init__(self, config: ProgressReward, instructions: Mapping[str, str]) -> None:
        """Load the model.

        Args:
            config: reference of the model, and the weight of its progress.
            instructions: by task.

        Raises:
            OpenralError: there is no such skill, it looks through several cameras, or its model cannot be loaded.
        """
        package = resolve(config.model_path)
        if (needed := cameras_needed(package.manifest)) > 1:
            raise ContractError(
                f"reward: {package.manifest.name} looks through {needed} cameras, and an attempt keeps the images of "
                "one; name a skill that looks through one"
            )
        self._model: RewardModel = load_reward_model(package)
        self._instructions, self._weight = dict(instructions), config.weight

    def potentials(self, trajectories: Sequence[Trajectory]) -> list[NDArray[np.float64]]:
        """Return (T + 1,) of each trajectory: its progress, 0..1, times the weight, from its images.

        Raises:
            ContractError: a trajectory has no images.
        """
        if not all(len(t.images) == len(t.tokens) + 1 for t in trajectories):
            raise ContractError("reward: these environments keep no images for a reward model; remove it")
        scores = (self._model.score(t.images, self._instructions[t.request.task]) for t in trajectories)
        return [self._weight * score.progress.astype(np.float64) for score in scores]

    def close(self) -> None:
        """Free the model, and end its sidecar process where it has one; to be called once."""
        self._model.close()
