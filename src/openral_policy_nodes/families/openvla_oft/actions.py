"""Conversion of action tokens to actions, and of proprioception to the network's range. NumPy only.

Sources: the action tokenizer and the un-normalisation of openvla/openvla and moojink/openvla-oft (213c5ff),
`prismatic/extern/hf/modeling_prismatic.py` and `experiments/robot/openvla_utils.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import PolicyError

_EPSILON = 1e-8


@dataclass(frozen=True)
class ActionStatistics:
    """Statistics of one quantity of the demonstrations, `action` or `proprio`."""

    low: NDArray[np.float64]
    """(D,) 1 % quantile, which is normalised to -1."""
    high: NDArray[np.float64]
    """(D,) 99 % quantile, which is normalised to 1."""
    scaled: NDArray[np.bool_]
    """(D,) whether an element is normalised; that of the gripper is not."""

    @classmethod
    def read(cls, norm_stats: Mapping[str, Any], key: str, quantity: str) -> ActionStatistics:
        """Return the statistics of a data set.

        Args:
            norm_stats: data set -> quantity -> q01, q99, mask, as in `dataset_statistics.json`.
            key: name of the data set, with or without upstream's suffix `_no_noops`.
            quantity: action or proprio.

        Raises:
            PolicyError: there are none of that name, or they are incomplete.
        """
        found = next((name for name in (key, f"{key}_no_noops") if name in norm_stats), None)
        if found is None:
            raise PolicyError(
                f"openvla: no statistics '{key}', the checkpoint has {', '.join(sorted(norm_stats)) or 'none'}; "
                "write one of these as image_preprocessing.norm_tag"
            )
        try:
            entry = norm_stats[found][quantity]
            low, high = (np.asarray(entry[name], np.float64) for name in ("q01", "q99"))
            scaled = np.asarray(entry.get("mask", np.ones(low.shape, bool)), bool)
        except (KeyError, TypeError, ValueError) as error:
            raise PolicyError(
                f"openvla: statistics '{found}' of {quantity} lack {error}; fetch them again"
            ) from error
        if not low.ndim == high.ndim == scaled.ndim == 1 or not len(low) == len(high) == len(scaled):
            raise PolicyError(
                f"openvla: statistics '{found}' of {quantity} differ in length; fetch them again"
            )
        return cls(low, high, scaled)

    def unnormalise(self, values: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return values (..., D) of -1 to 1 in the units of the demonstrations."""
        span = self.high - self.low + _EPSILON
        result: NDArray[np.float64] = np.where(self.scaled, 0.5 * (values + 1) * span + self.low, values)
        return result

    def normalise(self, values: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return values (..., D) in the units of the demonstrations normalised and clipped to -1 to 1."""
        span = self.high - self.low + _EPSILON
        result: NDArray[np.float64] = np.where(self.scaled, 2 * (values - self.low) / span - 1, values)
        return np.clip(result, -1.0, 1.0)


def bin_centres(bins: int) -> NDArray[np.float64]:
    """Return the centres (bins - 1,) between `bins` evenly spaced edges from -1 to 1."""
    edges = np.linspace(-1.0, 1.0, bins)
    middles: NDArray[np.float64] = (edges[:-1] + edges[1:]) / 2
    return middles


def tokens_to_values(tokens: NDArray[np.integer], vocabulary: int, bins: int) -> NDArray[np.float64]:
    """Decode action tokens.

    Args:
        tokens: of any shape; they are the last `bins` of the vocabulary, and the last one stands for the lowest value.
        vocabulary: size of the tokenizer's vocabulary, without the rows that pad the embedding (32000 for LLaMA 2).
        bins: number of edges of the bins. The tokens of the two highest values have the same bin, as in upstream's
            code.

    Returns:
        Values of -1 to 1, in the shape of `tokens`.
    """
    middles = bin_centres(bins)
    values: NDArray[np.float64] = middles[np.clip(vocabulary - np.asarray(tokens) - 1, 0, len(middles) - 1)]
    return values


def gripper_to_libero(opening: NDArray[np.floating]) -> NDArray[np.float64]:
    """Convert openings of the demonstrations, 0 (closed) to 1 (open), to LIBERO's commands, -1 (open) or 1 (closed).

    An opening of exactly 0.5 becomes 0, with which LIBERO does not move the gripper.
    """
    result: NDArray[np.float64] = -np.sign(2 * np.asarray(opening, np.float64) - 1)
    return result
