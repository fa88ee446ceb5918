"""Rectified flow (Liu et al., arXiv:2209.03003) from noise to the next frames, conditioned on known frames."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

TIMES = 1000
"""Range of the flow's time: at TIMES a latent is noise, at 0 it is a frame."""
_BASE_SIZE = 512
"""[px] image side for which the times of one frame are equally spaced."""

Velocity = Callable[[Tensor, Tensor], Tensor]
"""(latents (B, C, T, h, w), times (B, T)) -> velocities of the shape of the latents"""


def times_of(steps: int, size: int, frames: int) -> list[float]:
    """Return steps + 1 times from TIMES to 0, spaced as by OpenSora's timestep transform.

    With more pixels and frames than those of one frame of _BASE_SIZE they are denser near the noise.

    Args:
        steps: number of integration steps.
        size: [px] side of the images.
        frames: T, the number of frames.
    """
    ratio = size / _BASE_SIZE * frames**0.5
    even = [1 - step / steps for step in range(steps)]
    return [TIMES * ratio * t / (1 + (ratio - 1) * t) for t in even] + [0.0]


@torch.no_grad()
def follow(velocity: Velocity, before: Tensor, noise: Tensor, times: Sequence[float]) -> Tensor:
    """Return the latents (B, C, H, h, w) of the next frames, by Euler integration of the flow.

    Args:
        velocity: the model.
        before: (B, C, F, h, w) latents of the known frames, whose time is 0 in all steps.
        noise: (B, C, H, h, w) standard normal numbers.
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
    """Return standard normal numbers (B, *shape), one sample from each of B seeds."""
    return torch.stack([torch.randn(*shape, generator=torch.Generator().manual_seed(seed)) for seed in seeds])
