"""The third stage: trains the decoder on latents that the members predicted, which are never exact."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from openral_training.bc import BcConfig, schedule
from openral_training.checkpoint import restore_run, save_run
from openral_training.world_model.experience import Rollouts, windows
from openral_training.world_model.learn_autoencoder import as_images, picture_error
from openral_training.world_model.learning import LearnConfig, Progress, descend
from openral_training.world_model.network import WorldNetwork
from openral_training.world_model.statistics import ActionScale

SOON = 0.5
"""Share of the attempts that are predicted for at most one chunk; the others are for up to their whole length."""


def learn_drawing(
    network: WorldNetwork,
    frames: NDArray[np.uint8],
    latents: Tensor,
    rollouts: Rollouts,
    episodes: NDArray[np.int64],
    scale: ActionScale,
    config: LearnConfig,
    state: Path,
    run: str,
    progress: Progress,
) -> None:
    """Train the decoder to return the recorded frames for latents that were predicted from the first frame on.

    Encoder, dynamics and success heads are not changed.

    Args:
        network: whose decoder is trained.
        frames: (N, P, P, 3) of all episodes.
        latents: (N, L) of these frames.
        rollouts: all episodes.
        episodes: (E,) indices of the training episodes.
        scale: of the actions.
        config: hyper-parameters.
        state: file from which a killed run is resumed.
        run: digest of all settings and data that determine the result.
        progress: called after each step.
    """
    decoder = nn.ModuleList([network.pictures.start, network.pictures.decoder])
    optimiser = torch.optim.AdamW(decoder.parameters(), lr=config.drawing_rate)
    pace = BcConfig(steps=config.drawing_steps, warmup_steps=config.drawing_steps // 20)
    before = config.picture_steps + config.steps
    for step in range(restore_run(state, decoder, optimiser, run), config.drawing_steps):
        rng = np.random.default_rng([config.seed, 3, step])
        chosen = rng.choice(episodes, config.picture_batch)
        first, length = rollouts.first[chosen], (rollouts.last - rollouts.first)[chosen]
        chunk = network.shape.chunk
        soon = np.arange(len(chosen)) < SOON * len(chosen)
        ahead = rng.integers(1, np.where(soon, np.minimum(length, chunk), length) + 1)
        imagined = _imagined(network, latents, rollouts, chosen, scale, ahead, rng)
        begun, seen = as_images(frames[first]), as_images(frames[first + ahead])
        drawn = network.pictures.decode(imagined, latents[torch.from_numpy(first)], begun)
        error = picture_error(drawn, seen)
        descend(decoder, optimiser, error, config.drawing_rate * schedule(step, pace))
        progress(before + step + 1, f"drawing, {6.02 - 4.343 * error.item():.1f} dB")
        if (step + 1) % config.save_every == 0 or step + 1 == config.drawing_steps:
            save_run(state, decoder, optimiser, step + 1, run)


@torch.no_grad()
def _imagined(
    network: WorldNetwork,
    latents: Tensor,
    rollouts: Rollouts,
    episodes: NDArray[np.int64],
    scale: ActionScale,
    ahead: NDArray[np.int64],
    rng: np.random.Generator,
) -> Tensor:
    """Return latents (B, L) predicted for `ahead` (B,) steps after first frames, each chunk by a random member."""
    shape, members = network.shape, network.each()
    chunks = -(-int(ahead.max()) // shape.chunk)
    whole = windows(
        rollouts, scale, episodes, np.zeros_like(episodes), shape.condition_frames, chunks * shape.chunk
    )
    actions = torch.from_numpy(np.concatenate([whole.past_actions, whole.actions], 1))
    seen = latents[torch.from_numpy(whole.rows[:, : shape.condition_frames])]
    for number in range(chunks):
        going = torch.from_numpy(np.flatnonzero(ahead > number * shape.chunk))
        at = number * shape.chunk + shape.condition_frames
        member = members[int(rng.integers(len(members)))]
        found = seen[:, -1:].repeat_interleave(shape.chunk, 1)
        found[going] = member.dynamics(
            seen[going, at - shape.condition_frames : at],
            actions[going, at - shape.condition_frames : at],
            actions[going, at : at + shape.chunk],
        )
        seen = torch.cat([seen, found], 1)
    rows = torch.arange(len(episodes))
    return seen[rows, torch.from_numpy(ahead) + shape.condition_frames - 1]
