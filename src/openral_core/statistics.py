"""The few statistics that every result carries."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Z95 = 1.959963984540054
"""Two-sided 95 % quantile of the standard normal distribution."""


def wilson_interval(successes: int, trials: int, z: float = Z95) -> tuple[float, float]:
    """Return the Wilson score interval of a success rate (Wilson 1927), both ends in 0..1.

    Raises:
        ValueError: no trials, or more successes than trials.
    """
    if trials <= 0 or not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes in {trials} trials")
    rate = successes / trials
    centre = rate + z * z / (2 * trials)
    spread = z * math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def ranks(values: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rank of each value, 1-based; equal values share the mean of their ranks."""
    array = np.asarray(values, dtype=np.float64)
    ordered = np.sort(array)
    low = np.searchsorted(ordered, array, side="left")
    high = np.searchsorted(ordered, array, side="right")
    return (low + high + 1) / 2


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Return the probability that a positive outranks a negative, ties counting half (Mann and Whitney 1947).

    Raises:
        ValueError: one side is empty.
    """
    if not positive or not negative:
        raise ValueError(f"{len(positive)} positives and {len(negative)} negatives")
    both = ranks([*positive, *negative])
    n = len(positive)
    return (float(both[:n].sum()) - n * (n + 1) / 2) / (n * len(negative))


def average_precision(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Return the area under the precision-recall curve as a step function: sum of (R_n - R_(n-1)) P_n over thresholds.

    Raises:
        ValueError: one side is empty.
    """
    if not positive or not negative:
        raise ValueError(f"{len(positive)} positives and {len(negative)} negatives")
    score = np.asarray([*positive, *negative], dtype=np.float64)
    truth = np.repeat([1.0, 0.0], [len(positive), len(negative)])
    order = np.argsort(-score, kind="stable")
    hits, score = np.cumsum(truth[order]), score[order]
    ends = np.append(np.flatnonzero(np.diff(score)), len(score) - 1)  # equal scores share one threshold
    precision, recall = hits[ends] / (ends + 1), hits[ends] / len(positive)
    return float(np.diff(recall, prepend=0.0) @ precision)
