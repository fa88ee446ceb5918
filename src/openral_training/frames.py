"""The images of a dataset as one memory-mapped array, resized once, and the augmentation of a batch of them."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
from numpy.typing import NDArray

from openral_core.files.atomic import replaced_file
from openral_data.lerobot_v3 import Dataset

SHIFT = 4
"""[px] random translation; keypoints must not depend on where the table stands to the pixel."""


def frame_cache(
    dataset: Dataset, camera: str, size: int, progress: Callable[[int], None] = lambda frames: None
) -> NDArray[np.uint8]:
    """Return all frames of a camera as a read-only (N, size, size, 3) uint8 memory map, made on first use.

    Frames are resized as the deployment's observation adapter does it (cv2.INTER_AREA). They are made anew when the
    dataset has been written to since.
    """
    path = dataset.root / ".cache" / f"{camera}_{size}.npy"
    if not path.is_file() or path.stat().st_mtime < dataset.changed_s(camera):
        path.parent.mkdir(exist_ok=True)
        with replaced_file(path) as partial:
            frames = np.lib.format.open_memmap(partial, "w+", np.uint8, (len(dataset), size, size, 3))
            for i, image in enumerate(dataset.images(camera, progress)):
                frames[i] = cv2.resize(image, (size, size), interpolation=cv2.INTER_AREA)
            frames.flush()
    cached: NDArray[np.uint8] = np.load(path, mmap_mode="r")
    return cached


def augment(images: NDArray[np.uint8], rng: np.random.Generator) -> NDArray[np.float32]:
    """Shift each image by up to SHIFT px and jitter brightness and contrast.

    Args:
        images: (B, H, W, 3 * P) uint8; P pictures of one camera, which are all disturbed in the same way.
        rng: source of the disturbance.

    Returns:
        (B, 3 * P, H, W) float32 in 0..255.
    """
    count, height, width, channels = images.shape
    padded = np.pad(images, ((0, 0), (SHIFT, SHIFT), (SHIFT, SHIFT), (0, 0)), mode="edge")
    corners = rng.integers(0, 2 * SHIFT + 1, (count, 2))
    shifted = np.stack(
        [frame[y : y + height, x : x + width] for frame, (y, x) in zip(padded, corners, strict=True)]
    )
    gain = rng.uniform(0.85, 1.15, (count, 1, 1, 1)).astype(np.float32)
    offset = np.tile(rng.uniform(-12, 12, (count, 1, 1, 3)).astype(np.float32), channels // 3)
    jittered = np.clip(shifted * gain + offset, 0, 255)
    return np.ascontiguousarray(jittered.transpose(0, 3, 1, 2))
