"""What behaviour cloning learns from, whoever recorded it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from openral_policy_nodes.families.mini.network import MiniConfig

FINE = 32
"""Fine keypoints a camera: a puck of 4 cm is 3 px wide in MetaWorld's corner camera."""

LATE_SHARE = 0.5
"""Of the samples that are drawn where pictures may be late. A policy that was trained with all of them late missed
the puck with fresh pictures: it took them for late ones."""


@dataclass(frozen=True)
class Demonstrations:
    """Everything but the images, in memory: N rows, of which F are frames to learn from."""

    frames: NDArray[np.int64]
    """(F,) the usable rows."""
    state: NDArray[np.float32]
    """(N, D)"""
    chunk: NDArray[np.float32]
    """(N, H, A) the demonstrator's next actions."""
    ahead: NDArray[np.int64]
    """(N,) how many of the H belong to the episode."""
    landmarks: NDArray[np.float32]
    """(N, L) [m]; nan where unknown."""
    task: NDArray[np.int64]
    """(N,) index of the task each row was recorded for."""


@dataclass(frozen=True)
class CloningData:
    """A dataset as one network is to learn it; K tasks."""

    model: MiniConfig
    """Shape of the network."""
    demonstrations: Demonstrations
    views: tuple[str, ...]
    """Feature of the dataset that each of the model's cameras looks at."""
    sentences: tuple[tuple[str, ...], ...]
    """K sets of sentences, by task index."""
    weights: NDArray[np.float64]
    """(K,) how often a frame of a task is drawn, beside one of weight 1."""
    oldest: NDArray[np.int64] | None = None
    """(N,) oldest row of the same episode whose pictures may be seen with the state of each row; None: its own."""

    def pictured(self, rows: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the rows (B,) whose pictures are seen with the states of `rows` (B,).

        LATE_SHARE of them are drawn evenly from `oldest` to their own, the others are their own.
        """
        if self.oldest is None:
            return rows
        drawn = rng.integers(self.oldest[rows], rows, endpoint=True)
        return np.where(rng.random(len(rows)) < LATE_SHARE, drawn, rows)
