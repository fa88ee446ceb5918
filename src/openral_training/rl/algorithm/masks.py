"""Which steps of an array of episodes were lived: episodes end at different times, arrays do not."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

ScalarT = TypeVar("ScalarT", bound=np.generic)


def until_done(done: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which steps belong to the first episode, the one that ends it included.

    Args:
        done: (T, ...) whether the episode was over after a step; time is the first axis.
    """
    lived: NDArray[np.bool_] = np.cumsum(done, axis=0) - done == 0
    return lived


def flat_time(steps: NDArray[ScalarT]) -> NDArray[ScalarT]:
    """Return (T, B, C, ...) as (T·C, B, ...): one entry a control step instead of one a decision."""
    steps = np.moveaxis(steps, 2, 1)
    return steps.reshape(-1, *steps.shape[2:])


def trajectory_weights(lived: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return (T, B, ...) weights under which every episode counts the same, however long it took; they sum to B.

    Without them a policy that fails slowly drowns one that succeeds fast: a success ends its episode. RLinf divides
    by the share of the horizon that was lived, which is the same up to a constant (arXiv:2510.06710, section 4.3).

    Args:
        lived: (T, B, ...) steps that count.

    Raises:
        ValueError: an episode has no step.
    """
    axes = tuple(axis for axis in range(lived.ndim) if axis != 1)
    lengths = lived.sum(axis=axes, keepdims=True)
    if not lengths.all():
        raise ValueError("an episode without a step cannot be weighed")
    weights: NDArray[np.float64] = lived / lengths
    return weights
