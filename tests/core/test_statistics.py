"""Closed forms of the statistics that results carry."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from openral_core.statistics import auroc, ranks, spearman, wilson_interval


@pytest.mark.parametrize(("successes", "trials"), [(0, 10), (10, 10), (48, 50), (1, 3), (250, 500)])
def test_wilson_agrees_with_scipy(successes: int, trials: int) -> None:
    expected = stats.binomtest(successes, trials).proportion_ci(method="wilson")
    assert wilson_interval(successes, trials) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_wilson_refuses_impossible_counts() -> None:
    with pytest.raises(ValueError, match="3 successes in 2 trials"):
        wilson_interval(3, 2)


def test_spearman_agrees_with_scipy_with_ties() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 6, 40).astype(float), rng.normal(size=40)
    assert spearman(a, b) == pytest.approx(stats.spearmanr(a, b).statistic)
    assert list(ranks([3.0, 1.0, 3.0])) == [2.5, 1.0, 2.5]
    assert spearman([1.0, 1.0], [0.0, 1.0]) == 0.0


def test_auroc_counts_pairs() -> None:
    rng = np.random.default_rng(1)
    good, bad = list(rng.integers(3, 9, 20) * 1.0), list(rng.integers(0, 6, 30) * 1.0)
    pairs = [1.0 if g > b else 0.5 if g == b else 0.0 for g in good for b in bad]
    assert auroc(good, bad) == pytest.approx(float(np.mean(pairs)))
    with pytest.raises(ValueError, match="0 positives"):
        auroc([], bad)
