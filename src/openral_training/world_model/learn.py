"""Training of a world model, read top to bottom: first the pictures, then what comes next and when it is a success."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, mse_loss, smooth_l1_loss

from openral_core.sentence import SentenceEncoder
from openral_training.bc import BcConfig, schedule
from openral_training.checkpoint import identity, restore_run, save_run
from openral_training.dataset.lerobot_v3 import Dataset
from openral_training.frames import frame_cache
from openral_training.world_model.experience import Rollouts, Windows, held_out, load_rollouts, windows
from openral_training.world_model.files import WorldModelConfig, save_world_model
from openral_training.world_model.network import WorldNetwork, WorldShape
from openral_training.world_model.starts import starts_of
from openral_training.world_model.statistics import ActionScale, action_scale

Progress = Callable[[int, str], None]
"""Told the number of steps that are done and a line about them."""


@dataclass(frozen=True)
class LearnConfig:
    """Hyper-parameters."""

    picture_steps: int = 1200
    """Optimiser steps of the autoencoder."""
    picture_batch: int = 32
    picture_rate: float = 2e-3
    picture_prior: float = 1e-5
    """Weight of the divergence from the prior, beside the mean squared error of a pixel."""
    steps: int = 1500
    """Optimiser steps of dynamics and verdict."""
    batch_size: int = 32
    learning_rate: float = 1e-3
    """Peak of the cosine schedule, as is `picture_rate`."""
    picture_weight: float = 0.1
    """Of errors of the picture's latent, beside those of the state."""
    noise: float = 0.3
    """Of the condition frames in training, in units of one step's change: imagined frames are never exact."""
    held_out: float = 0.1
    """Share of initial states whose episodes are kept for `openral world-model eval`."""
    save_every: int = 500
    """Optimiser steps between two states from which a killed run goes on."""
    seed: int = 0
    threads: int = 1
    """Torch threads."""


def train(
    dataset: Dataset, out: Path, config: LearnConfig = LearnConfig(), *, size: int = 64, latent: int = 64,
    progress: Progress = lambda step, note: None,
) -> WorldNetwork:  # fmt: skip
    """Train on rollouts and write the folder of a world model, see `files`.

    Args:
        dataset: as `openral world-model collect` makes it.
        out: folder; an interrupted training in it goes on where it stopped.
        config: hyper-parameters.
        size: [px] of the pictures that the model works on.
        latent: Z, numbers that stand for a picture.
        progress: told of each step.

    Raises:
        ContractError: the dataset is of another kind, or the run in `out` is another one.
    """
    torch.set_num_threads(config.threads)
    torch.manual_seed(config.seed)
    rollouts = load_rollouts(dataset)
    scale = action_scale(rollouts.actions_executed)
    shape = WorldShape(rollouts.state.shape[1], rollouts.action.shape[1], size, latent)
    frames = frame_cache(dataset, dataset.cameras[0], size)
    network = WorldNetwork(shape)
    run = identity(config, shape, dataset.info)
    pictures = (config.picture_steps, config.picture_batch, config.picture_rate, config.picture_prior)
    picture_run = identity(pictures, config.held_out, config.seed, size, latent, dataset.info)
    learnt = np.flatnonzero(~held_out(rollouts, config.held_out))
    rows = _rows_of(rollouts, learnt)
    _learn_pictures(network, frames, rows, config, out / "pictures.run.safetensors", picture_run, progress)
    latents = torch.cat([encoded(network, frames), torch.tensor(rollouts.state)], -1)
    _learn_dynamics(
        network, latents, rollouts, learnt, scale, config, out / "dynamics.run.safetensors", run, progress
    )
    model = WorldModelConfig(shape, rollouts.words, dataset.cameras[0], config.held_out)
    save_world_model(out, network, model, scale, starts_of(rollouts, frames))
    return network


def _rows_of(rollouts: Rollouts, episodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows of the frames of some episodes."""
    return np.concatenate([np.arange(rollouts.first[e], rollouts.last[e] + 1) for e in episodes])


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


def _learn_pictures(
    network: WorldNetwork, frames: NDArray[np.uint8], rows: NDArray[np.int64], config: LearnConfig, state: Path,
    run: str, progress: Progress,
) -> None:  # fmt: skip
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
        _descend(
            pictures,
            optimiser,
            error + config.picture_prior * prior,
            config.picture_rate * schedule(step, pace),
        )
        progress(step + 1, f"pictures, error {error.item():.4f}")
        if (step + 1) % config.save_every == 0 or step + 1 == config.picture_steps:
            save_run(state, pictures, optimiser, step + 1, run)


def _learn_dynamics(
    network: WorldNetwork, latents: Tensor, rollouts: Rollouts, episodes: NDArray[np.int64], scale: ActionScale,
    config: LearnConfig, state: Path, run: str, progress: Progress,
) -> None:  # fmt: skip
    """Teach dynamics and verdict; the pictures stay as they are."""
    words = torch.from_numpy(SentenceEncoder().encode(list(rollouts.words.values())))
    network.scale(latents, _steps(latents, rollouts), words)
    learnt = nn.ModuleList([network.dynamics, network.verdict])
    optimiser = torch.optim.AdamW(learnt.parameters(), lr=config.learning_rate)
    pace, shape = BcConfig(steps=config.steps, warmup_steps=config.steps // 20), network.shape
    lengths = rollouts.last - rollouts.first
    for step in range(restore_run(state, learnt, optimiser, run), config.steps):
        rng = np.random.default_rng([config.seed, 1, step])
        chosen = rng.choice(episodes, config.batch_size)
        present = rng.integers(lengths[chosen])
        cut = windows(rollouts, scale, chosen, present, shape.condition_frames, shape.chunk)
        motion, verdict = losses(network, latents, rollouts, cut, words, config, rng)
        rate = config.learning_rate * schedule(step, pace)
        _descend(learnt, optimiser, motion + verdict, rate)
        progress(config.picture_steps + step + 1, f"motion {motion.item():.3f}, verdict {verdict.item():.3f}")
        if (step + 1) % config.save_every == 0 or step + 1 == config.steps:
            save_run(state, learnt, optimiser, step + 1, run)


def losses(
    network: WorldNetwork, latents: Tensor, rollouts: Rollouts, cut: Windows, words: Tensor, config: LearnConfig,
    rng: np.random.Generator,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the error of what is imagined [steps' spread], and the cross-entropy of the verdict on both worlds.

    Args:
        network: the world model.
        latents: (N, L) of all frames.
        rollouts: their labels.
        cut: pieces of episodes.
        words: (K, 384) of the tasks.
        config: weights.
        rng: of noise, and of the task that each piece is judged for.
    """
    dynamics, shape = network.dynamics, network.shape
    real = latents[torch.from_numpy(cut.rows)]
    blur = torch.from_numpy(rng.standard_normal(real[:, : shape.condition_frames].shape).astype(np.float32))
    before = real[:, : shape.condition_frames] + config.noise * dynamics.step * blur
    dreamt: Tensor = dynamics(before, torch.from_numpy(cut.led), torch.from_numpy(cut.actions))
    known = torch.from_numpy(cut.known).float()[..., None]
    moves = dynamics.step > 0
    weights = torch.full_like(dynamics.step, 1.0)
    weights[: shape.latent] = config.picture_weight
    weights = torch.where(moves, weights, 0.0)
    unit = torch.where(moves, dynamics.step, 1.0)
    off = smooth_l1_loss(dreamt / unit, real[:, shape.condition_frames :] / unit, reduction="none")
    motion = (off * weights * known).sum() / (known.sum() * weights.sum())
    tasks = rng.integers(len(words), size=len(real))
    truth = torch.from_numpy(rollouts.success[cut.rows, tasks[:, None]][:, shape.condition_frames :]).float()
    both = torch.cat([real, torch.cat([real[:, : shape.condition_frames], dreamt.detach()], 1)])
    logits = network.judge(both[:, 1:], words[torch.from_numpy(np.tile(tasks, 2))])
    verdict = binary_cross_entropy_with_logits(logits, truth.repeat(2, 1), known[..., 0].repeat(2, 1))
    return motion, verdict


def _steps(latents: Tensor, rollouts: Rollouts) -> Tensor:
    """Return (M, L) the changes from frame to frame within episodes."""
    within = np.ones(len(latents), np.bool_)
    within[rollouts.last] = False
    return (latents[1:] - latents[:-1])[torch.from_numpy(within[:-1])]


def _descend(network: nn.Module, optimiser: torch.optim.Optimizer, loss: Tensor, rate: float) -> None:
    for group in optimiser.param_groups:
        group["lr"] = rate
    optimiser.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(network.parameters(), 1.0)
    optimiser.step()
