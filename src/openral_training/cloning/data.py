"""The data of behaviour cloning, in one form for all datasets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from openral_policy_nodes.families.mini.network import MiniConfig

FINE = 32
"""Fine keypoints for each camera, since a puck of 4 cm is 3 px wide in MetaWorld's corner camera."""
LATE_SHARE = 2 / 3
"""Share of the samples whose images are delayed, where a recipe has a delay.

A policy that was trained with delayed images alone missed the puck with images without delay."""


@dataclass(frozen=True)
class Demonstrations:
    """Everything but the images, in memory: N rows, of which F are trained on."""

    frames: NDArray[np.int64]
    """(F,) the rows that are trained on."""
    state: NDArray[np.float32]
    """(N, D) state vectors."""
    chunk: NDArray[np.float32]
    """(N, H, A) the demonstrator's next H actions."""
    ahead: NDArray[np.int64]
    """(N,) how many of the H actions are within the episode."""
    landmarks: NDArray[np.float32]
    """(N, L) [m] coordinates of landmarks in the world frame; nan where unknown."""
    task: NDArray[np.int64]
    """(N,) index of the task that each row was recorded for."""


@dataclass(frozen=True)
class CloningData:
    """A dataset of K tasks in the form in which a network is trained on it."""

    model: MiniConfig
    """Shape of the network."""
    demonstrations: Demonstrations
    views: tuple[str, ...]
    """Image feature of the dataset for each camera of the model."""
    sentences: tuple[tuple[str, ...], ...]
    """K sets of sentences, by task index."""
    weights: NDArray[np.float64]
    """(K,) relative weights with which frames of a task are drawn."""
    oldest: NDArray[np.int64] | None = None
    """(N,) earliest row of the same episode whose images may go with the state of each row; None: there is no delay."""

    def pictured(self, rows: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the rows (B,) whose images go with the states of `rows` (B,).

        A share of LATE_SHARE of them is drawn uniformly from `oldest` to the row itself; the rest is the row itself.
        """
        if self.oldest is None:
            return rows
        drawn = rng.integers(self.oldest[rows], rows, endpoint=True)
        return np.where(rng.random(len(rows)) < LATE_SHARE, drawn, rows)
