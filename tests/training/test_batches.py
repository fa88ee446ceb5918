"""Batches of a training run: pictures disturbed as they were drawn, and the next batch made while one is used."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from openral_training.frames import SHIFT, augmentation, frame_cache
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


class NamedAsItLikes:
    """A dataset of two pictures whose camera is named like a path."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def __len__(self) -> int:
        return 2

    def image_files_digest(self, camera: str) -> str:
        return camera

    def images(self, camera: str, progress: object, resized: Callable[[Any], Any]) -> Iterator[Any]:
        yield from (resized(np.full((8, 8, 3), value, np.uint8)) for value in (1, 2))


def test_the_name_of_a_camera_leads_nowhere(tmp_path: Path) -> None:
    root = tmp_path / "dataset"
    root.mkdir()
    dataset: Any = NamedAsItLikes(root)
    for camera in ("../../outside", "observation.images/left"):
        assert frame_cache(dataset, camera, 4)[:, 0, 0, 0].tolist() == [1, 2]
    assert list(tmp_path.iterdir()) == [root]
    assert {path.parent for path in root.rglob("*") if path.is_file()} == {root / ".cache"}


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
