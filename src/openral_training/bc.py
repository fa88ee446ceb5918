"""Behaviour cloning of a `mini` policy: masked L1 on action chunks, read top to bottom."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from openral_core.sentence import SentenceEncoder
from openral_data.lerobot_v3 import Dataset
from openral_policy_nodes.families.mini.network import MiniConfig, MiniNetwork
from openral_rskill.mini.checkpoint import load_network, save_network
from openral_training.checkpoint import identity, origin, restore_run, same_form, save_run
from openral_training.frames import augment, frame_cache
from openral_training.recipe import Recipe

EXPERTS = ("expert", "noisy_expert")
FINE = 32
"""Fine keypoints a camera: a puck of 4 cm is 3 px wide in MetaWorld's corner camera."""


@dataclass(frozen=True)
class BcConfig:
    """Hyper-parameters of behaviour cloning."""

    steps: int = 4000
    """Optimiser steps."""
    batch_size: int = 128
    learning_rate: float = 6e-4
    """Peak of the cosine schedule."""
    warmup_steps: int = 200
    weight_decay: float = 1e-3
    sentence_noise: float = 0.02
    """Standard deviation of the noise on each of the 384 numbers of a sentence: words nearby mean the same."""
    landmark_weight: float = 0.2
    """Of the error in telling where object and target are, beside the error of the actions."""
    save_every: int = 500
    """Optimiser steps between two states from which a killed run goes on."""
    seed: int = 0
    threads: int = 1
    """Torch threads; more than the idle cores makes it slower."""


@dataclass(frozen=True)
class Demonstrations:
    """Everything but the images, in memory: N rows, of which F are frames of expert episodes."""

    frames: NDArray[np.int64]
    """(F,) the usable rows."""
    state: NDArray[np.float32]
    """(N, D)"""
    chunk: NDArray[np.float32]
    """(N, H, A) the expert's next actions."""
    ahead: NDArray[np.int64]
    """(N,) how many of the H belong to the episode."""
    landmarks: NDArray[np.float32]
    """(N, L) [m]; nan where unknown."""
    task: NDArray[np.int64]
    """(N,) index of the task each row was recorded for."""


def load_demonstrations(dataset: Dataset) -> Demonstrations:
    """Read the columns, and pick the frames in which an expert says what to do."""
    names = ("observation.state", "label.chunk", "label.ahead", "label.landmarks", "task_index")
    state, chunk, ahead, landmarks, task = dataset.columns(names).values()
    usable = np.zeros(len(dataset), bool)
    episodes = dataset.episodes
    for first, last, behaviour in zip(
        episodes["dataset_from_index"], episodes["dataset_to_index"], episodes["behaviour"], strict=True
    ):
        usable[first:last] = behaviour in EXPERTS
    actions = chunk.reshape(len(dataset), -1, dataset.info["features"]["action"]["shape"][0])
    return Demonstrations(np.flatnonzero(usable), state, actions, ahead, landmarks, task)


def network_for(dataset: Dataset) -> MiniConfig:
    """Return the shape of a network that takes a dataset's cameras and proprioception and gives its actions."""
    features = dataset.info["features"]
    actions = int(features["action"]["shape"][0])
    return MiniConfig(
        cameras=dataset.cameras,
        state_dim=features["observation.state"]["shape"][0],
        action_dim=actions,
        chunk_size=features["label.chunk"]["shape"][0] // actions,
        fine=FINE,
        landmarks=features["label.landmarks"]["shape"][0],
    )


class SentencePool:
    """The training sentences of each task as vectors; a random one is drawn for each sample."""

    def __init__(self, recipe: Recipe, encoder: SentenceEncoder) -> None:
        self._pools = [encoder.encode(recipe.tasks[task].train) for task in recipe.task_ids]

    def draw(self, tasks: NDArray[np.int64], noise: float, rng: np.random.Generator) -> Tensor:
        """Return (B, 384): one sentence for each task index, blurred by `noise`."""
        rows = [self._pools[task][rng.integers(len(self._pools[task]))] for task in tasks]
        blurred = np.stack(rows) + rng.normal(0, noise, (len(rows), len(rows[0])))
        return torch.from_numpy(blurred.astype(np.float32))


def schedule(step: int, config: BcConfig) -> float:
    """Return the factor of the learning rate: linear warm-up, then half a cosine to zero."""
    if step < config.warmup_steps:
        return (step + 1) / config.warmup_steps
    done = (step - config.warmup_steps) / max(1, config.steps - config.warmup_steps)
    return 0.5 * (1 + math.cos(math.pi * min(1.0, done)))


def prepare(demos: Demonstrations, model: MiniConfig, warm_start: Path | None) -> MiniNetwork:
    """Return the network to train: fresh, with the statistics of the demonstrations, or that of a checkpoint.

    Raises:
        PolicyError: `warm_start` holds no checkpoint of this form.
    """
    if warm_start is not None:
        return load_network(warm_start, lambda **fields: MiniNetwork(same_form(MiniConfig(**fields), model)))
    network = MiniNetwork(model)
    state, landmarks = demos.state[demos.frames], demos.landmarks[demos.frames]
    network.state_mean.copy_(torch.from_numpy(state.mean(0)))
    network.state_std.copy_(torch.from_numpy(state.std(0)))
    network.landmark_mean.copy_(torch.from_numpy(np.nan_to_num(np.nanmean(landmarks, 0))))
    network.landmark_std.copy_(torch.from_numpy(np.nan_to_num(np.nanstd(landmarks, 0)) + 1e-3))
    return network


def losses(
    network: MiniNetwork, demos: Demonstrations, rows: NDArray[np.int64], images: Tensor, words: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the mean absolute error of the actions that belong to the episode, and of the landmarks [std].

    Args:
        network: the policy.
        demos: the labels.
        rows: (B,) of the dataset.
        images: (B, C, 3, S, S) of those rows.
        words: (B, 384)
    """
    with torch.autocast("cpu", torch.bfloat16):
        predicted, where = network(images, torch.from_numpy(demos.state[rows]), words)
    assert where is not None
    target = torch.from_numpy(demos.chunk[rows])
    mask = (torch.arange(target.shape[1]) < torch.from_numpy(demos.ahead[rows])[:, None]).float()[..., None]
    action = ((predicted.float() - target).abs() * mask).sum() / (mask.sum() * target.shape[2])
    truth = (torch.from_numpy(demos.landmarks[rows]) - network.landmark_mean) / network.landmark_std
    return action, (where.float() - truth).nan_to_num().abs().mean()


def train(
    dataset: Dataset,
    recipe: Recipe,
    out: Path,
    config: BcConfig = BcConfig(),
    *,
    warm_start: Path | None = None,
    progress: Callable[[int, float], None] = lambda step, loss: None,
) -> MiniNetwork:
    """Clone the experts of `dataset` and write `config.json` and `model.safetensors` into `out`.

    Args:
        dataset: demonstrations, as `openral train collect` makes them.
        recipe: the words of each task.
        out: folder of the checkpoint; an interrupted run in it goes on where it stopped.
        config: hyper-parameters.
        warm_start: folder of a checkpoint to go on from; None: from nothing.
        progress: called after each step with the number of steps done and the loss of the actions.
    """
    torch.set_num_threads(config.threads)
    torch.manual_seed(config.seed)
    model, demos = network_for(dataset), load_demonstrations(dataset)
    frames = [frame_cache(dataset, camera, model.image_size) for camera in model.cameras]
    sentences = SentencePool(recipe, SentenceEncoder())
    weights = np.array([words.weight for words in recipe.tasks.values()])[demos.task[demos.frames]]
    chances = weights / weights.sum()
    network = prepare(demos, model, warm_start)
    optimiser = torch.optim.AdamW(
        network.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay
    )
    state_file, run = out / "run.safetensors", identity(config, model, recipe, dataset.info, warm_start)
    for step in range(restore_run(state_file, network, optimiser, run), config.steps):
        # The batch depends on seed and step alone, so a resumed run sees what an unbroken one would have seen.
        rng = np.random.default_rng([config.seed, step])
        rows = np.sort(rng.choice(demos.frames, config.batch_size, p=chances))
        images = torch.from_numpy(np.stack([augment(view[rows], rng) for view in frames], axis=1))
        words = sentences.draw(demos.task[rows], config.sentence_noise, rng)
        for group in optimiser.param_groups:
            group["lr"] = config.learning_rate * schedule(step, config)
        action, landmark = losses(network, demos, rows, images, words)
        optimiser.zero_grad()
        (action + config.landmark_weight * landmark).backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        progress(step + 1, action.item())
        if (step + 1) % config.save_every == 0:
            save_run(state_file, network, optimiser, step + 1, run)
            save_network(network, model, out, {"steps": f"{step + 1} of {config.steps}"})
    save_network(network, model, out, {**origin(dataset, recipe, config.seed), "steps": str(config.steps)})
    state_file.unlink(missing_ok=True)
    return network
