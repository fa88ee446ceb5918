"""The first stage: an autoencoder learns what the frames look like."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import mse_loss

from openral_training.bc import BcConfig, schedule
from openral_training.checkpoint import restore_run, save_run
from openral_training.world_model.learning import LearnConfig, Progress, descend
from openral_training.world_model.network import WorldNetwork


def as_pictures(frames: NDArray[np.uint8]) -> Tensor:
    """Return (B, 3, P, P) in -1..1 of frames (B, P, P, 3) uint8."""
    return torch.from_numpy(np.array(frames)).permute(0, 3, 1, 2).float() / 127.5 - 1


@torch.no_grad()
def encoded(network: WorldNetwork, frames: NDArray[np.uint8], batch: int = 256) -> Tensor:
    """Return latents (N, Z) of frames (N, P, P, 3)."""
    parts = [
        network.pictures.encode(as_pictures(frames[i : i + batch]))[0] for i in range(0, len(frames), batch)
    ]
    return torch.cat(parts)


def learn_pictures(
    network: WorldNetwork,
    frames: NDArray[np.uint8],
    rows: NDArray[np.int64],
    config: LearnConfig,
    state: Path,
    run: str,
    progress: Progress,
) -> None:
    """Teach the autoencoder what the frames look like."""
    pictures = network.pictures
    optimiser = torch.optim.AdamW(pictures.parameters(), lr=config.picture_rate)
    pace = BcConfig(steps=config.picture_steps, warmup_steps=config.picture_steps // 20)
    for step in range(restore_run(state, pictures, optimiser, run), config.picture_steps):
        rng = np.random.default_rng([config.seed, 0, step])
        seen = as_pictures(frames[np.sort(rng.choice(rows, config.picture_batch))])
        mean, log_variance = pictures.encode(seen)
        chance = torch.from_numpy(rng.standard_normal(mean.shape).astype(np.float32))
        again = pictures.decode(mean + chance * (0.5 * log_variance).exp())
        error = mse_loss(again, seen)
        prior = 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance).sum(-1).mean()
        descend(
            pictures,
            optimiser,
            error + config.picture_prior * prior,
            config.picture_rate * schedule(step, pace),
        )
        progress(step + 1, f"pictures, error {error.item():.4f}")
        if (step + 1) % config.save_every == 0 or step + 1 == config.picture_steps:
            save_run(state, pictures, optimiser, step + 1, run)
