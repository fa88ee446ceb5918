from __future__ import annotations

import numpy as np
import pytest
import torch

from openral_reward_monitor.models.robometer.decode import decode_progress, decode_success


@pytest.mark.parametrize("bins", [2, 10, 100])
def test_progress_is_the_mean_of_the_bins_under_their_softmax(bins: int) -> None:
    logits = np.random.default_rng(bins).normal(0, 5, (7, bins)).astype(np.float32)
    weights = torch.softmax(torch.from_numpy(logits), dim=1)
    expected = (weights * torch.linspace(0, 1, bins)).sum(dim=1)
    np.testing.assert_allclose(decode_progress(logits), expected.numpy(), atol=1e-6)
    assert decode_progress(logits).dtype == np.float32


def test_one_certain_bin_is_its_centre() -> None:
    logits = np.full((10, 10), -1e4, np.float32)
    np.fill_diagonal(logits, 1e4)
    np.testing.assert_allclose(decode_progress(logits), np.arange(10) / 9, atol=1e-6)


def test_even_logits_are_half_way() -> None:
    np.testing.assert_allclose(decode_progress(np.zeros((3, 10), np.float32)), 0.5, atol=1e-6)


def test_success_is_the_sigmoid_and_never_overflows() -> None:
    logits = np.array([-1e4, -3.0, 0.0, 3.0, 1e4], np.float32)
    with np.errstate(all="raise"):
        values = decode_success(logits)
    np.testing.assert_allclose(values, torch.sigmoid(torch.from_numpy(logits)).numpy(), atol=1e-6)
    assert values.dtype == np.float32
