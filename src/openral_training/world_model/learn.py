"""Training of a world model: first the pictures, then what comes next and when it is a success."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from openral_data.lerobot_v3 import Dataset
from openral_training.checkpoint import identity
from openral_training.frames import frame_cache
from openral_training.world_model.experience import Rollouts, held_out, load_rollouts
from openral_training.world_model.files import WorldModelConfig, save_world_model
from openral_training.world_model.learn_autoencoder import encoded, learn_pictures
from openral_training.world_model.learn_members import doubt_limit, learn_members
from openral_training.world_model.learning import LearnConfig, Progress
from openral_training.world_model.network import WorldNetwork, WorldShape
from openral_training.world_model.starts import starts_of
from openral_training.world_model.statistics import action_scale


def train(
    dataset: Dataset,
    out: Path,
    config: LearnConfig = LearnConfig(),  # noqa: B008
    *,
    size: int = 64,
    latent: int = 64,
    progress: Progress = lambda step, note: None,
) -> WorldNetwork:
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
    learn_pictures(network, frames, rows, config, out / "pictures.run.safetensors", picture_run, progress)
    latents = torch.cat([encoded(network, frames), torch.tensor(rollouts.state)], -1)
    learn_members(
        network, latents, rollouts, learnt, scale, config, out / "dynamics.run.safetensors", run, progress
    )
    limit = doubt_limit(network, latents, rollouts, learnt, scale, config)
    model = WorldModelConfig(shape, rollouts.words, dataset.cameras[0], config.held_out, limit)
    save_world_model(out, network, model, scale, starts_of(rollouts, frames))
    return network


def _rows_of(rollouts: Rollouts, episodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows of the frames of some episodes."""
    return np.concatenate([np.arange(rollouts.first[e], rollouts.last[e] + 1) for e in episodes])
