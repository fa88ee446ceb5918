"""From a camera's image to the pixels that the two vision towers take, on the images' device.

Upstream trains on random crops of 90 % of the area and so evaluates on the middle 90 %, resized back by TensorFlow's
`crop_and_resize` (moojink/openvla-oft 213c5ff, `experiments/robot/openvla_utils.py`); this is the same computation.
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
"""TensorFlow turns 0..1 into 0..255 by multiplying with this and cutting off."""


def centre_crop(images: Tensor, area: float = CROP_AREA) -> Tensor:
    """Cut out the middle and stretch it to the old size, bilinearly, in float64.

    Args:
        images: (..., H, W, 3) uint8.
        area: share of the area; height and width shrink by its square root.

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
    """Return where in 0 .. length - 1 the crop's pixels are sampled: its edges fall on pixel centres."""
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
        images: (B, N, H, W, 3) uint8, N cameras.
        means: one (3,) a tower, of pixels of 0 to 1.
        stds: likewise.

    Returns:
        (B, N * towers * 3, H, W) float32: camera by camera, and within each tower by tower.
    """
    floats = to_unit(images)
    towers = [
        (floats - torch.tensor(mean, device=images.device)) / torch.tensor(std, device=images.device)
        for mean, std in zip(means, stds, strict=True)
    ]
    batch, _, height, width, _ = images.shape
    return torch.cat(towers, dim=-1).movedim(-1, -3).reshape(batch, -1, height, width)
