"""Pictures on their way to a model's device: as bytes, from pinned memory, in one copy."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


def on_device(array: NDArray[Any], device: torch.device | str) -> Tensor:
    """Return an array on a device. A GPU copies it from pinned memory, while this process goes on."""
    tensor = torch.from_numpy(np.ascontiguousarray(array))
    if torch.device(device).type == "cuda":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


def to_unit(pixels: Tensor) -> Tensor:
    """Bytes of 0 to 255 -> float32 of 0 to 1 on the same device, the same bits on each.

    The divisor is a tensor, since a GPU multiplies by the rounded reciprocal of a Python number.
    """
    return pixels.float() / torch.full((), 255.0, device=pixels.device)
