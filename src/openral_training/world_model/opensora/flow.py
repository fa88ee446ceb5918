"""Rectified flow (Liu et al., arXiv:2209.03003) from noise to the frames that follow, beside frames that stay."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

TIMES = 1000
"""Of the flow: TIMES is noise, 0 is a frame."""
_BASE_SIZE = 512
"""[px] for which times are spread evenly."""

Velocity = Callable[[Tensor, Tensor], Tensor]
"""From latents (B, C, T, h, w) and times (B, T) to velocities like the latents."""


def times_of(steps: int, size: int, frames: int) -> list[float]:
    """Return steps + 1 times from TIMES to 0, denser where much is decided, as OpenSora's timestep transform has them.

    Args:
        steps: of the flow.
        size: [px] side of the pictures.
        frames: T
    """
    ratio = size / _BASE_SIZE * frames**0.5
    even = [1 - step / steps for step in range(steps)]
    return [TIMES * ratio * t / (1 + (ratio - 1) * t) for t in even] + [0.0]


@torch.no_grad()
def follow(velocity: Velocity, before: Tensor, noise: Tensor, times: Sequence[float]) -> Tensor:
    """Return frames (B, C, H, h, w) that follow.

    Args:
        velocity: the model.
        before: (B, C, F, h, w) frames that are known; they stay at time 0.
        noise: (B, C, H, h, w)
        times: see `times_of`.
    """
    found, known = noise, before.shape[2]
    for now, then in itertools.pairwise(times):
        clock = torch.zeros(len(before), known + noise.shape[2])
        clock[:, known:] = now
        speed = velocity(torch.cat([before, found], 2), clock)[:, :, known:]
        found = found + speed * ((now - then) / TIMES)
    return found


def noise_of(shape: Sequence[int], seeds: Sequence[int]) -> Tensor:
    """Return normal numbers (B, *shape), each world's from its own seed."""
    return torch.stack([torch.randn(*shape, generator=torch.Generator().manual_seed(seed)) for seed in seeds])
