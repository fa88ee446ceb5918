"""Training of a world model in three stages: the autoencoder, dynamics and success heads, and the decoder again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from openral_data.lerobot_v3 import Dataset
from openral_training.checkpoint import identity, labels_of
from openral_training.frames import frame_cache
from openral_training.world_model.checkpoint import WorldModelConfig, save_world_model
from openral_training.world_model.experience import held_out, load_rollouts
from openral_training.world_model.learn_autoencoder import encoded, learn_autoencoder
from openral_training.world_model.learn_drawing import learn_drawing
from openral_training.world_model.learn_members import changes, learn_members, uncertainty_limit
from openral_training.world_model.learning import LearnConfig, Progress
from openral_training.world_model.network import WorldNetwork, WorldShape
from openral_training.world_model.starts import starts_of
from openral_training.world_model.statistics import action_scale

FORM = 4
"""Version of the networks and of their training; a killed training can only be resumed by the same version."""


def train(
    dataset: Dataset,
    out: Path,
    config: LearnConfig = LearnConfig(),  # noqa: B008
    *,
    size: int = 64,
    latent: int = 64,
    progress: Progress = lambda step, note: None,
) -> WorldNetwork:
    """Train on rollouts and write the folder of a world model, see `checkpoint`; the state of the training is deleted.

    Args:
        dataset: as `openral world-model collect` makes it.
        out: folder of the world model; an interrupted training in it is resumed.
        config: hyper-parameters.
        size: [px] side of the square images of the model.
        latent: Z, numbers that encode an image.
        progress: called after each step.

    Raises:
        ContractError: the dataset is of another kind, or the training in `out` has other settings.
    """
    torch.set_num_threads(config.threads)
    torch.manual_seed(config.seed)
    rollouts = load_rollouts(dataset)
    learnt = np.flatnonzero(~held_out(rollouts, config.held_out))
    scale = action_scale(rollouts.action[rollouts.rows(learnt, executed=True)])
    shape = WorldShape(rollouts.state.shape[1], rollouts.action.shape[1], size, latent)
    frames = frame_cache(dataset, dataset.cameras[0], size)
    network = WorldNetwork(shape)
    data = (dataset.info, *labels_of(dataset))
    run = identity(FORM, config, shape, *data)
    settings = (config.picture_steps, config.picture_batch, config.picture_rate, config.picture_prior)
    picture_run = identity(FORM, settings, config.held_out, config.seed, size, latent, *data)
    first, last = rollouts.first[learnt], rollouts.last[learnt]
    states = torch.tensor(rollouts.state)
    network.pictures.scale(changes(states, rollouts, learnt))
    learn_autoencoder(
        network, frames, states, first, last, config, out / "pictures.run.safetensors", picture_run, progress
    )
    latents = torch.cat([encoded(network, frames), states], -1)
    learn_members(
        network, latents, rollouts, learnt, scale, config, out / "dynamics.run.safetensors", run, progress
    )
    learn_drawing(
        network,
        frames,
        latents,
        rollouts,
        learnt,
        scale,
        config,
        out / "drawing.run.safetensors",
        run,
        progress,
    )
    limit = uncertainty_limit(network, latents, rollouts, learnt, scale, config)
    model = WorldModelConfig(shape, rollouts.words, dataset.cameras[0], config.held_out, limit)
    save_world_model(out, network, model, scale, starts_of(rollouts, frames))
    for state in out.glob("*.run.safetensors"):
        state.unlink()
    return network
