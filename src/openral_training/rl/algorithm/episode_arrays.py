"""Arrays of several episodes, (T, B, ...), padded to the longest one, and the masks and weights that go with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

ScalarT = TypeVar("ScalarT", bound=np.generic)


def padded(arrays: Sequence[NDArray[ScalarT]]) -> NDArray[ScalarT]:
    """Return B arrays (T, ...) as one (max T, B, ...), zeros after an episode's end."""
    out = np.zeros((max(map(len, arrays)), len(arrays), *arrays[0].shape[1:]), arrays[0].dtype)
    for column, array in enumerate(arrays):
        out[: len(array), column] = array
    return out


def until_done(done: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return (T, ...) whether a step is at or before the end of the first episode.

    Args:
        done: (T, ...) whether the episode has ended with this step.
    """
    mask: NDArray[np.bool_] = np.cumsum(done, axis=0) - done == 0
    return mask


def flat_time(steps: NDArray[ScalarT]) -> NDArray[ScalarT]:
    """Return (T, B, C, ...) as (T·C, B, ...), so that time runs over control steps instead of decisions."""
    steps = np.moveaxis(steps, 2, 1)
    return steps.reshape(-1, *steps.shape[2:])


def unflat_time(steps: NDArray[np.float64], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Undo `flat_time`: return (T·C, B) as (T, B, C)."""
    return np.moveaxis(steps.reshape(shape[0], shape[2], shape[1]), 1, 2)


def last_steps(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return (T, B) whether a step is the last of its episode; `mask` (T, B) says which were executed."""
    last: NDArray[np.bool_] = mask & ~np.concatenate([mask[1:], np.zeros_like(mask[:1])])
    return last


def trajectory_weights(mask: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return (T, B, ...) weights of steps under which every episode has the weight 1, whatever its length.

    With equal weights of steps, long failures would outweigh short successes. RLinf divides by the executed share of
    the horizon, which is the same up to a constant (arXiv:2510.06710, section 4.3).

    Args:
        mask: (T, B, ...) whether a step was executed; the others get the weight 0.

    Raises:
        ValueError: an episode has no step.
    """
    axes = tuple(axis for axis in range(mask.ndim) if axis != 1)
    lengths = mask.sum(axis=axes, keepdims=True)
    if not lengths.all():
        raise ValueError("an episode has no executed step, so its steps cannot be weighted")
    weights: NDArray[np.float64] = mask / lengths
    return weights
