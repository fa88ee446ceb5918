"""An episode: what is asked for before it is run, and the trajectory that it leaves."""

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
    """Fixes the policy's noise, whichever process runs the episode and whatever runs beside it."""
    group: int = 0
    """Number of the episodes that GRPO compares it with; all of them begin in the same state."""
    keep_images: bool = False
    """Whether the trajectory keeps images, for a reward model."""


@dataclass(frozen=True)
class Trajectory:
    """An episode that was run to its end, T decisions long."""

    request: EpisodeRequest
    """What was asked for."""
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
    """Whether a world model gave the episode up. This is a termination with nothing to come, unlike a truncation at the
    horizon."""
    final_value: float = 0.0
    """The critic's value of `last_observation`, from which PPO bootstraps a truncated episode; 0 where the rollout was
    not asked for it."""
    images: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    """(T + 1, H, W, 3) RGB of the scene's first camera, before each decision and after the last one; (0,) without
    `keep_images`."""

    @property
    def success(self) -> bool:
        """Whether the task was solved."""
        return bool(self.rewards.any())

    @property
    def terminated(self) -> bool:
        """Whether nothing is to come after the last step: the task was solved, or the episode was aborted.

        Otherwise the episode was truncated at the horizon.
        """
        return self.success or self.aborted

    @property
    def steps(self) -> int:
        """Control steps until success or the horizon."""
        return int(self.executed.sum())
