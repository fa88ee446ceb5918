"""Batches of a training run: pictures disturbed as they were drawn, and the next batch made while one is used."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import torch

from openral_training.frames import SHIFT, augmentation
from openral_training.prefetch import made_ahead


def test_pictures_are_shifted_with_their_edges_and_then_recoloured() -> None:
    rng = np.random.default_rng(0)
    pictures = rng.integers(0, 256, (16, 12, 20, 3), dtype=np.uint8)
    drawn = augmentation(len(pictures), rng)
    found = drawn.on(pictures, "cpu").numpy()
    assert found.shape == (16, 3, 12, 20)
    assert len({tuple(shift) for shift in drawn.shift.tolist()}) > 8
    assert np.abs(drawn.shift).max() <= SHIFT
    padded = np.pad(pictures, ((0, 0), (SHIFT, SHIFT), (SHIFT, SHIFT), (0, 0)), mode="edge")
    for number, (down, across) in enumerate(drawn.shift + SHIFT):
        moved = padded[number, down : down + 12, across : across + 20]
        expected = np.clip(moved * drawn.gain[number] + drawn.offset[number], 0, 255)
        np.testing.assert_array_equal(found[number], expected.transpose(2, 0, 1))


def test_a_share_of_a_batch_is_disturbed_as_it_is_in_the_whole() -> None:
    rng = np.random.default_rng(1)
    pictures = rng.integers(0, 256, (9, 8, 8, 3), dtype=np.uint8)
    drawn, share = augmentation(9, rng), slice(3, 6)
    assert torch.equal(drawn.of(share).on(pictures[share], "cpu"), drawn.on(pictures, "cpu")[share])


def test_the_next_batch_is_made_while_one_is_used() -> None:
    begun = {step: threading.Event() for step in range(3, 7)}

    def make(step: int) -> int:
        begun[step].set()
        return step * step

    found = []
    for step, made in made_ahead(make, range(3, 7)):
        if step < 6:
            assert begun[step + 1].wait(60)
        assert not any(begun[later].is_set() for later in range(step + 2, 7))
        found.append((step, made))
    assert found == [(3, 9), (4, 16), (5, 25), (6, 36)]
    assert list(made_ahead(make, range(5, 5))) == []


def test_what_goes_wrong_with_a_batch_is_said_where_it_is_used() -> None:
    def make(step: int) -> int:
        if step == 2:
            raise OSError("the disk is gone")
        return step

    batches = made_ahead(make, range(4))
    assert [next(batches) for _ in range(2)] == [(0, 0), (1, 1)]
    with pytest.raises(OSError, match="the disk is gone"):
        next(batches)
