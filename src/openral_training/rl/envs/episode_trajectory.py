"""An episode: the request to run it, and the trajectory that results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class EpisodeRequest:
    """An episode to be run."""

    task: str
    """The simulator's name of the task."""
    init_id: int
    """Number of the initial state."""
    seed: tuple[int, ...]
    """Determines the policy's noise, whichever process runs the episode and in whatever batch."""
    group: int = 0
    """Number of its GRPO group, whose episodes begin in the same state and are compared with each other."""
    keep_images: bool = False
    """Whether the trajectory keeps images, for a reward model."""


@dataclass(frozen=True)
class Trajectory:
    """An episode that was run to its end, T decisions long."""

    request: EpisodeRequest
    """The request that was run."""
    state_digest: str
    """SHA-256 of the simulator's initial state."""
    observations: NDArray[Any]
    """(T, D) before each decision."""
    last_observation: NDArray[Any]
    """(D,) after the last executed control step."""
    tokens: NDArray[np.float32]
    """(T, C, A)"""
    logprobs: NDArray[np.float32]
    """(T, C, A) under the policy that acted."""
    values: NDArray[np.float32]
    """(T, V) of the critic when the policy acted."""
    rewards: NDArray[np.float64]
    """(T, C) 1 in the control step in which the task was first solved, else 0."""
    executed: NDArray[np.bool_]
    """(T, C) False for the steps of the last chunk after the episode had ended."""
    aborted: bool = False
    """Whether a world model aborted the episode. This is a termination, with no value to bootstrap from, unlike a
    truncation at the horizon."""
    final_value: float = 0.0
    """The critic's value of `last_observation`, from which PPO bootstraps a truncated episode; 0 where the rollout did
    not request it."""
    images: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    """(T + 1, H, W, 3) RGB of the scene's first camera, before each decision and after the last one; (0,) without
    `keep_images`."""

    @property
    def success(self) -> bool:
        """Whether the task was solved."""
        return bool(self.rewards.any())

    @property
    def terminated(self) -> bool:
        """Whether the episode has no future return after the last step: it was solved, or aborted.

        Otherwise the episode was truncated at the horizon.
        """
        return self.success or self.aborted

    @property
    def steps(self) -> int:
        """Number of executed control steps."""
        return int(self.executed.sum())
