"""Transfer of images to a model's device: as bytes, from pinned memory, in one copy."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


def on_device(array: NDArray[Any], device: torch.device | str) -> Tensor:
    """Return an array as a tensor on a device; a GPU copies it asynchronously from pinned memory."""
    tensor = torch.from_numpy(np.ascontiguousarray(array))
    if torch.device(device).type == "cuda":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


def to_unit(pixels: Tensor) -> Tensor:
    """Return bytes of 0 to 255 as float32 of 0 to 1 on the same device, bit-identical on all devices.

    The divisor is a tensor, since a GPU would multiply by the rounded reciprocal of a Python number.
    """
    return pixels.float() / torch.full((), 255.0, device=pixels.device)
