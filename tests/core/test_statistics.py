"""Closed forms of the statistics that results carry."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from openral_core.statistics import auroc, average_precision, ranks, wilson_interval


@pytest.mark.parametrize(("successes", "trials"), [(0, 10), (10, 10), (48, 50), (1, 3), (250, 500)])
def test_wilson_agrees_with_scipy(successes: int, trials: int) -> None:
    expected = stats.binomtest(successes, trials).proportion_ci(method="wilson")
    assert wilson_interval(successes, trials) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize(("successes", "trials"), [(4, 3), (-1, 3), (0, 0), (0, -1)])
def test_wilson_refuses_impossible_counts(successes: int, trials: int) -> None:
    with pytest.raises(ValueError, match=f"{successes} successes in {trials} trials"):
        wilson_interval(successes, trials)


def test_equal_values_share_their_ranks() -> None:
    values = np.random.default_rng(0).integers(0, 6, 40).astype(float)
    assert list(ranks(values)) == list(stats.rankdata(values))


def test_auroc_counts_pairs() -> None:
    rng = np.random.default_rng(1)
    good, bad = list(rng.integers(3, 9, 20) * 1.0), list(rng.integers(0, 6, 30) * 1.0)
    pairs = [1.0 if g > b else 0.5 if g == b else 0.0 for g in good for b in bad]
    assert auroc(good, bad) == pytest.approx(float(np.mean(pairs)))
    with pytest.raises(ValueError, match="0 positives"):
        auroc([], bad)


def test_average_precision_is_the_step_under_the_curve() -> None:
    # Thresholds 0.9: 1 of 1 found is right; 0.8: 2 of 3; 0.3: 3 of 4; 0.1: the last of the negatives.
    assert average_precision([0.9, 0.8, 0.3], [0.8, 0.1]) == pytest.approx((1 + 2 / 3 + 3 / 4) / 3)
    assert average_precision([0.5], [0.5, 0.5, 0.5]) == pytest.approx(0.25)
    with pytest.raises(ValueError, match="0 negatives"):
        average_precision([0.1], [])
