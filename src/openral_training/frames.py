"""The resized images of a dataset as a memory-mapped array, and the augmentation of a batch of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from openral_core.files.atomic import replaced_file, write_atomically
from openral_data.lerobot_v3 import Dataset

SHIFT = 4
"""[px] greatest random translation, so that keypoints do not depend on the exact position of the table."""


def frame_cache(
    dataset: Dataset, camera: str, size: int, progress: Callable[[int], None] = lambda frames: None
) -> NDArray[np.uint8]:
    """Return all frames of a camera as a read-only (N, size, size, 3) uint8 memory map, made on first use.

    Frames are resized as by the observation adapter of deployments (cv2.INTER_AREA). They are made again if the
    dataset's files are not those that they were made from: other names, sizes or modification times, older or newer;
    and if their own file is damaged.
    """

    def resized(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
        small = cv2.resize(image, (size, size), interpolation=cv2.INTER_AREA)
        return small.astype(np.uint8, copy=False)

    # A dataset with a camera whose name leads elsewhere cannot be opened.
    path = dataset.root / ".cache" / f"{camera}_{size}.npy"
    source, made_from = path.with_suffix(".source"), dataset.image_files_digest(camera)
    shape = len(dataset), size, size, 3
    if (
        not source.is_file()
        or source.read_bytes() != made_from.encode()
        or getattr(_mapped(path), "shape", None) != shape
    ):
        path.parent.mkdir(exist_ok=True)
        with replaced_file(path) as partial:
            frames = np.lib.format.open_memmap(partial, "w+", np.uint8, shape)
            with partial.open("r+b") as file:  # a write to a memory map on a full disk would kill the process
                os.posix_fallocate(file.fileno(), 0, partial.stat().st_size)
            for i, image in enumerate(dataset.images(camera, progress, resized)):
                frames[i] = image
            frames.flush()
        write_atomically(source, made_from)
    cached = _mapped(path)
    assert cached is not None, "it was there, or was just made"
    return cached


def _mapped(path: Path) -> NDArray[np.uint8] | None:
    """Return the array of a file as a read-only memory map; None: there is none, or it is damaged."""
    try:
        return np.load(path, mmap_mode="r") if path.is_file() else None
    except (ValueError, EOFError):
        return None


@dataclass(frozen=True)
class Augmentation:
    """Random translations and colour changes of the images of a batch of B."""

    shift: NDArray[np.int64]
    """(B, 2) [px] down and across."""
    gain: NDArray[np.float32]
    """(B, 1, 1, 1) contrast, a factor."""
    offset: NDArray[np.float32]
    """(B, 1, 1, 3) in 0..255."""

    def of(self, share: slice) -> Augmentation:
        """Return the augmentation of a part of the batch."""
        return Augmentation(self.shift[share], self.gain[share], self.offset[share])

    def on(self, pictures: NDArray[np.uint8], device: torch.device | str) -> Tensor:
        """Return augmented images (B, 3, H, W) float32 in 0..255, computed on a device.

        They are sent to the device as uint8, a quarter of the later size. Pixels beyond an edge repeat those at it.

        Args:
            pictures: (B, H, W, 3) uint8.
            device: torch device.
        """
        shown, shift, gain, offset = (
            torch.from_numpy(part).to(device) for part in (pictures, self.shift, self.gain, self.offset)
        )
        down, across = (
            (torch.arange(size, device=device) + shift[:, axis, None]).clamp_(0, size - 1)
            for axis, size in enumerate(shown.shape[1:3])
        )
        number = torch.arange(len(shown), device=device)[:, None, None]
        moved = shown[number, down[:, :, None], across[:, None, :]]
        return (moved * gain + offset).clamp_(0, 255).permute(0, 3, 1, 2).contiguous()


def augmentation(count: int, rng: np.random.Generator) -> Augmentation:
    """Draw for each of `count` images a shift of up to SHIFT px, a contrast, and an offset of each colour."""
    shift = rng.integers(0, 2 * SHIFT + 1, (count, 2)) - SHIFT
    gain = rng.uniform(0.85, 1.15, (count, 1, 1, 1)).astype(np.float32)
    return Augmentation(shift, gain, rng.uniform(-12, 12, (count, 1, 1, 3)).astype(np.float32))
