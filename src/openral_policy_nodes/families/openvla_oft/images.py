"""Conversion of camera images to the inputs of the two vision towers, on the images' device.

Upstream trains on random crops of 90 % of the area, and evaluates on the centre crop of 90 %, resized by TensorFlow's
`crop_and_resize` (moojink/openvla-oft 213c5ff, `experiments/robot/openvla_utils.py`). This is the same computation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from openral_sidecar.device_transfer import to_unit

CROP_AREA = 0.9
"""Share of the area that is kept."""
_UINT8_SCALE = 255.5
"""Factor by which TensorFlow multiplies 0..1 before it truncates to 0..255."""


def centre_crop(images: Tensor, area: float = CROP_AREA) -> Tensor:
    """Crop images to the centre and resize them to their former size, bilinearly, in float64.

    Args:
        images: (..., H, W, 3) uint8.
        area: share of the area that is kept; height and width are multiplied by its square root.

    Returns:
        (..., H, W, 3) uint8.
    """
    height, width = images.shape[-3:-1]
    side = float(np.sqrt(np.clip(area, 0.0, 1.0)))
    floats = images.double() / torch.full((), 255.0, dtype=torch.float64, device=images.device)
    rows = _stretch(floats, _places(height, side), axis=-3)
    both = _stretch(rows, _places(width, side), axis=-2)
    return (both.clamp(0, 1) * _UINT8_SCALE).floor().clamp(0, 255).byte()


def _places(length: int, side: float) -> NDArray[np.float64]:
    """Return the coordinates (length,) in 0 .. length - 1 at which the crop, with this share of a side, is sampled.

    The first and the last one are on the edges of the crop.
    """
    first = (1 - side) / 2 * (length - 1)
    return np.linspace(first, first + side * (length - 1), length)


def _stretch(images: Tensor, places: NDArray[np.float64], axis: int) -> Tensor:
    lower = np.clip(np.floor(places).astype(int), 0, images.shape[axis] - 1)
    upper = np.clip(lower + 1, 0, images.shape[axis] - 1)
    share = (places - lower).reshape([-1] + [1] * (-axis - 1))
    first, second, part, rest = (
        torch.from_numpy(numbers).to(images.device) for numbers in (lower, upper, share, 1 - share)
    )
    return images.index_select(axis, first) * rest + images.index_select(axis, second) * part


def tower_pixels(images: Tensor, means: Sequence[Sequence[float]], stds: Sequence[Sequence[float]]) -> Tensor:
    """Normalise images for each vision tower and stack the results.

    Args:
        images: (B, N, H, W, 3) uint8, of N cameras.
        means: (3,) for each tower, of pixels of 0 to 1.
        stds: likewise.

    Returns:
        (B, N * towers * 3, H, W) float32, ordered by camera, and for each camera by tower.
    """
    floats = to_unit(images)
    towers = [
        (floats - torch.tensor(mean, device=images.device)) / torch.tensor(std, device=images.device)
        for mean, std in zip(means, stds, strict=True)
    ]
    batch, _, height, width, _ = images.shape
    return torch.cat(towers, dim=-1).movedim(-1, -3).reshape(batch, -1, height, width)
