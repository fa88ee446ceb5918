"""One try of a policy at one initial state, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class EpisodeRequest:
    """An episode to be run."""

    task: str
    init_id: int
    seed: tuple[int, ...]
    """Fixes its chance, whoever runs it beside whatever else."""
    group: int = 0
    """Number of the attempts that it is compared with; they begin in the same state."""
    watched: bool = False
    """Whether images are kept of it, for a reward model."""


@dataclass(frozen=True)
class Trajectory:
    """An attempt that was run to its end: T decisions."""

    attempt: EpisodeRequest
    state: str
    """Digest of the initial state."""
    observations: NDArray[Any]
    """(T, D) before each decision."""
    last: NDArray[Any]
    """(D,) after the last one."""
    tokens: NDArray[np.float32]
    """(T, C, A)"""
    logprobs: NDArray[np.float32]
    """(T, C, A) when they were drawn."""
    values: NDArray[np.float32]
    """(T, V) what the critic expected then."""
    rewards: NDArray[np.float64]
    """(T, C) 1 in the step in which the task was solved first, else 0."""
    executed: NDArray[np.bool_]
    """(T, C) False in what was left of the chunk in which the episode ended."""
    lost: bool = False
    """Whether it was given up, so that nothing was to come any more; else it was solved, or ran out of time."""
    images: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    """(T + 1, H, W, 3) RGB of the scene's first camera, before each decision and after the last; (0,) of an attempt
    that was not watched."""

    @property
    def success(self) -> bool:
        """Whether the task was solved."""
        return bool(self.rewards.any())

    @property
    def steps(self) -> int:
        """Control steps until success or the horizon."""
        return int(self.executed.sum())
