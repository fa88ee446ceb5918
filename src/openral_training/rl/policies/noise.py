"""The chance of one episode: normal numbers that hang together in time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class EpisodeNoise:
    """An autoregressive row of standard normal numbers for each number of an action.

    White noise shakes an arm to and fro and moves it nowhere; noise that keeps its direction for a while explores.
    Each number alone is standard normal whatever the correlation, so log-probabilities of single tokens stay what they
    are; that tokens of neighbouring steps are no longer independent is neglected, as in arXiv:2312.11091.
    """

    def __init__(self, seed: Sequence[int], action_dim: int, correlation: float) -> None:
        """Begin a row.

        Args:
            seed: fixes it.
            action_dim: A
            correlation: of a control step with the next, 0 (white) to below 1.
        """
        self._rng = np.random.default_rng(list(seed))
        self._correlation = correlation
        self._last = self._rng.standard_normal(action_dim)

    def next(self, chunk: int) -> NDArray[np.float32]:
        """Return the numbers (C, A) of the next decision."""
        fresh = self._rng.standard_normal((chunk, len(self._last)))
        share = math.sqrt(1 - self._correlation**2)
        for step in range(chunk):
            self._last = self._correlation * self._last + share * fresh[step]
            fresh[step] = self._last
        return fresh.astype(np.float32)
