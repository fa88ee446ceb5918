"""What all stages of the training share: hyper-parameters, the progress callback, and one optimiser step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

Progress = Callable[[int, str], None]
"""Told the number of steps that are done and a line about them."""


@dataclass(frozen=True)
class LearnConfig:
    """Hyper-parameters."""

    picture_steps: int = 2000
    """Optimiser steps of the autoencoder."""
    picture_batch: int = 32
    picture_rate: float = 2e-3
    picture_prior: float = 1e-3
    """Weight of the divergence from the prior, beside the logarithm of a frame's mean squared error."""
    steps: int = 2000
    """Optimiser steps of dynamics and verdict."""
    batch_size: int = 64
    """Pieces of episodes that each member sees in a step; members see different ones."""
    learning_rate: float = 1e-3
    """Peak of the cosine schedule, as is `picture_rate`."""
    picture_weight: float = 0.1
    """Of errors of the picture's latent, beside those of the state."""
    noise: float = 0.3
    """Of the condition frames in training, in units of one step's change: imagined frames are never exact."""
    drawing_steps: int = 1000
    """Optimiser steps in which the decoder learns from imagined latents."""
    drawing_rate: float = 5e-4
    """Peak of its schedule."""
    doubt_quantile: float = 0.995
    """Quantile of the uncertainty over windows of the data above which a prediction counts as unknown."""
    held_out: float = 0.1
    """Share of initial states whose episodes are kept for `openral world-model eval`."""
    save_every: int = 500
    """Optimiser steps between two states from which a killed run goes on."""
    seed: int = 0
    threads: int = 1
    """Torch threads."""

    @property
    def all_steps(self) -> int:
        """Optimiser steps of the three stages."""
        return self.picture_steps + self.steps + self.drawing_steps


def descend(network: nn.Module, optimiser: torch.optim.Optimizer, loss: Tensor, rate: float) -> None:
    """Take one optimiser step on a loss, at the learning rate `rate`, with gradients clipped to a norm of 1."""
    for group in optimiser.param_groups:
        group["lr"] = rate
    optimiser.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(network.parameters(), 1.0)
    optimiser.step()
