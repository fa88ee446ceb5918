"""Shared by all stages of the training: hyper-parameters, the progress callback, and one optimiser step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

Progress = Callable[[int, str], None]
"""(number of finished steps, a line about them) -> None"""


@dataclass(frozen=True)
class LearnConfig:
    """Hyper-parameters."""

    picture_steps: int = 2000
    """Optimiser steps of the autoencoder."""
    picture_batch: int = 32
    picture_rate: float = 2e-3
    picture_prior: float = 1e-3
    """Weight of the KL divergence from the prior, relative to the logarithm of a frame's mean squared error."""
    steps: int = 2000
    """Optimiser steps of dynamics and success heads."""
    batch_size: int = 64
    """Windows of episodes that each member is trained on in a step; they differ between members."""
    learning_rate: float = 1e-3
    """Peak of the cosine schedule of the members; `picture_rate` is that of the autoencoder."""
    picture_weight: float = 0.1
    """Weight of errors in the image's latent, relative to those in the state."""
    noise: float = 0.3
    """Standard deviation of the noise on condition latents in training, in units of one step's change.

    Predicted latents are never exact, and a prediction begins with them."""
    drawing_steps: int = 1000
    """Optimiser steps of the decoder on predicted latents."""
    drawing_rate: float = 5e-4
    """Peak of the cosine schedule of these steps."""
    doubt_quantile: float = 0.995
    """Quantile of the uncertainty over windows of the data above which a prediction counts as unknown."""
    held_out: float = 0.1
    """Share of initial states whose episodes are kept for `openral world-model eval`."""
    save_every: int = 500
    """Optimiser steps between two saved states, from which a killed run is resumed."""
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
