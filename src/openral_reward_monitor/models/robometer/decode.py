"""Turns the heads' logits into progress and success."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def decode_progress(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the expected progress of each frame.

    The discrete head is a distribution over bins with evenly spaced centres (C51, Bellemare et al. 2017); the number of
    bins is the head's, not the manifest's `num_bins`.

    Args:
        logits: (T, bins), bins > 1.

    Returns:
        (T,) 0..1.
    """
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    centres = np.linspace(0.0, 1.0, logits.shape[1], dtype=np.float32)
    values: NDArray[np.float32] = (weights * centres).sum(axis=1) / weights.sum(axis=1)
    return values


def decode_success(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the success probability of each frame: the sigmoid of (T,) logits, written so that it cannot overflow."""
    values: NDArray[np.float32] = 0.5 * (1.0 + np.tanh(0.5 * logits))
    return values
