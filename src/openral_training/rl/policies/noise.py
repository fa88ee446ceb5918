"""Exploration noise: standard normal numbers, correlated in time, that depend on an episode's seed alone."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class EpisodeNoise:
    """A stationary AR(1) process for each number of an action.

    White noise averages out over a few control steps, so the arm hardly deviates from its path; correlated noise
    explores further. Each sample is standard normal whatever the correlation, so log-probabilities of single tokens are
    exact. The dependence between tokens of consecutive steps is neglected, as in arXiv:2312.11091.
    """

    def __init__(self, seed: Sequence[int], action_dim: int, correlation: float) -> None:
        """Begin the noise of an episode.

        Args:
            seed: of the episode.
            action_dim: A, the length of an action.
            correlation: coefficient between consecutive control steps, from 0 (white noise) to below 1.
        """
        self._rng = np.random.default_rng(list(seed))
        self._correlation = correlation
        self._last = self._rng.standard_normal(action_dim)

    def next(self, chunk: int) -> NDArray[np.float32]:
        """Return the noise (C, A) of the next decision."""
        noise = self._rng.standard_normal((chunk, len(self._last)))
        innovation = math.sqrt(1 - self._correlation**2)
        for step in range(chunk):
            self._last = self._correlation * self._last + innovation * noise[step]
            noise[step] = self._last
        return noise.astype(np.float32)
