"""From a camera's image to the pixels that the two vision towers take. NumPy only.

Upstream trains on random crops of 90 % of the area and so evaluates on the middle 90 %, resized back by TensorFlow's
`crop_and_resize` (moojink/openvla-oft 213c5ff, `experiments/robot/openvla_utils.py`); this is the same computation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

CROP_AREA = 0.9
"""Share of the area that is kept."""
_UINT8_SCALE = 255.5
"""TensorFlow turns 0..1 into 0..255 by multiplying with this and cutting off."""


def centre_crop(images: NDArray[np.uint8], area: float = CROP_AREA) -> NDArray[np.uint8]:
    """Cut out the middle and stretch it to the old size, bilinearly.

    Args:
        images: (..., H, W, 3).
        area: share of the area; height and width shrink by its square root.

    Returns:
        (..., H, W, 3)
    """
    height, width = images.shape[-3:-1]
    side = float(np.sqrt(np.clip(area, 0.0, 1.0)))
    floats = images.astype(np.float64) / 255
    rows = _stretch(floats, _places(height, side), axis=-3)
    both = _stretch(rows, _places(width, side), axis=-2)
    result: NDArray[np.uint8] = np.clip(np.floor(np.clip(both, 0, 1) * _UINT8_SCALE), 0, 255).astype(np.uint8)
    return result


def _places(length: int, side: float) -> NDArray[np.float64]:
    """Return where in 0 .. length - 1 the crop's pixels are sampled: its edges fall on pixel centres."""
    first = (1 - side) / 2 * (length - 1)
    return np.linspace(first, first + side * (length - 1), length)


def _stretch(images: NDArray[np.float64], places: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    lower = np.clip(np.floor(places).astype(int), 0, images.shape[axis] - 1)
    upper = np.clip(lower + 1, 0, images.shape[axis] - 1)
    share = (places - lower).reshape([-1] + [1] * (-axis - 1))
    result: NDArray[np.float64] = (
        np.take(images, lower, axis) * (1 - share) + np.take(images, upper, axis) * share
    )
    return result


def tower_pixels(
    images: NDArray[np.uint8], means: Sequence[Sequence[float]], stds: Sequence[Sequence[float]]
) -> NDArray[np.float32]:
    """Normalise images for each vision tower and stack the results.

    Args:
        images: (B, N, H, W, 3), N cameras.
        means: one (3,) a tower, of pixels of 0 to 1.
        stds: likewise.

    Returns:
        (B, N * towers * 3, H, W): camera by camera, and within each tower by tower.
    """
    floats = images.astype(np.float32) / 255
    towers = [
        (floats - np.asarray(mean, np.float32)) / np.asarray(std, np.float32)
        for mean, std in zip(means, stds, strict=True)
    ]
    batch, _, height, width, _ = images.shape
    channels = np.moveaxis(np.concatenate(towers, axis=-1), -1, -3)
    stacked = np.ascontiguousarray(channels, np.float32)
    return stacked.reshape(batch, -1, height, width)
