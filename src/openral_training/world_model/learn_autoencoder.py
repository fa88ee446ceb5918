"""The first stage: trains the autoencoder of frames, whose decoder also gets the first frame of their episode."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from openral_training.bc import BcConfig, schedule
from openral_training.checkpoint import restore_run, save_run
from openral_training.world_model.learning import LearnConfig, Progress, descend
from openral_training.world_model.network import WorldNetwork


def as_images(frames: NDArray[np.uint8]) -> Tensor:
    """Return (B, 3, P, P) in -1..1 of frames (B, P, P, 3) uint8."""
    return torch.from_numpy(np.array(frames)).permute(0, 3, 1, 2).float() / 127.5 - 1


SOON = 8
"""Half of the training frames are at most this number of control steps after the first frame of their episode."""
SMALL_ERROR = 1e-5
"""Added to a frame's mean squared error (images in -1..1) before the logarithm; it limits the PSNR to 56 dB."""


def picture_error(drawn: Tensor, real: Tensor) -> Tensor:
    """Return the mean over images (B, 3, P, P) in -1..1 of the natural logarithm of their mean squared error."""
    return ((drawn - real).square().mean(dim=(1, 2, 3)) + SMALL_ERROR).log().mean()


@torch.no_grad()
def encoded(network: WorldNetwork, frames: NDArray[np.uint8], batch: int = 256) -> Tensor:
    """Return latents (N, Z) of frames (N, P, P, 3)."""
    parts = [
        network.pictures.encode(as_images(frames[i : i + batch]))[0] for i in range(0, len(frames), batch)
    ]
    return torch.cat(parts)


def learn_autoencoder(
    network: WorldNetwork,
    frames: NDArray[np.uint8],
    states: Tensor,
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    config: LearnConfig,
    state: Path,
    run: str,
    progress: Progress,
) -> None:
    """Train the autoencoder on the frames of episodes.

    The loss is the logarithm of each frame's error, which is proportional to the negative PSNR. So a frame near the
    beginning, which resembles the first one, has the same influence as a late one.

    Args:
        network: whose autoencoder is trained.
        frames: (N, P, P, 3) of all episodes.
        states: (N, S) in these frames.
        first: (E,) row of the first frame of each training episode.
        last: (E,) row of its last frame.
        config: hyper-parameters.
        state: file from which a killed run is resumed.
        run: digest of all settings and data that determine the result.
        progress: called after each step.
    """
    autoencoder = network.pictures
    optimiser = torch.optim.AdamW(autoencoder.parameters(), lr=config.picture_rate)
    pace = BcConfig(steps=config.picture_steps, warmup_steps=config.picture_steps // 20)
    for step in range(restore_run(state, autoencoder, optimiser, run), config.picture_steps):
        rng = np.random.default_rng([config.seed, 0, step])
        chosen = rng.integers(len(first), size=config.picture_batch)
        ahead = last[chosen] - first[chosen]
        soon = np.arange(config.picture_batch) % 2 == 0
        ahead = rng.integers(1, np.where(soon, np.minimum(ahead, SOON), ahead) + 1)
        before, after = first[chosen], first[chosen] + ahead
        begun, seen = as_images(frames[before]), as_images(frames[after])
        mean, log_variance = autoencoder.encode(seen)
        chance = torch.from_numpy(rng.standard_normal(mean.shape).astype(np.float32))
        drawn_from = mean + chance * (0.5 * log_variance).exp()
        again = autoencoder.decode(
            torch.cat([drawn_from, states[torch.from_numpy(after)]], -1),
            torch.cat([autoencoder.encode(begun)[0], states[torch.from_numpy(before)]], -1),
            begun,
        )
        error = picture_error(again, seen)
        prior = 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance).sum(-1).mean()
        descend(
            autoencoder,
            optimiser,
            error + config.picture_prior * prior,
            config.picture_rate * schedule(step, pace),
        )
        progress(step + 1, f"pictures, {6.02 - 4.343 * error.item():.1f} dB")
        if (step + 1) % config.save_every == 0 or step + 1 == config.picture_steps:
            save_run(state, autoencoder, optimiser, step + 1, run)
