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

from openral_core.mini.checkpoint import save_network
from openral_core.sentence import SentenceEncoder
from openral_policy_nodes.mini.network import MiniConfig, MiniNetwork
from openral_training.checkpoint import identity, restore_run, save_run
from openral_training.dataset.lerobot_v3 import Dataset
from openral_training.frames import augment, frame_cache
from openral_training.recipe import Recipe

EXPERTS = ("expert", "noisy_expert")


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
    save_every: int = 500
    """Optimiser steps between two states from which a killed run goes on."""
    seed: int = 0
    threads: int = 1
    """Torch threads; more than the idle cores makes it slower."""


@dataclass(frozen=True)
class Demonstrations:
    """Everything but the images, in memory: F usable frames of expert episodes."""

    frames: NDArray[np.int64]
    """(F,) row of each frame in the dataset."""
    state: NDArray[np.float32]
    """(N, D) of every row of the dataset."""
    action: NDArray[np.float32]
    """(N, A)"""
    ends: NDArray[np.int64]
    """(N,) first row after the episode of each row."""
    task: NDArray[np.int64]
    """(N,) index of the task each row was recorded for."""


def load_demonstrations(dataset: Dataset) -> Demonstrations:
    """Read states and actions, and pick the frames in which an expert says what to do."""
    columns = dataset.columns(["observation.state", "action", "task_index"])
    ends = np.zeros(len(dataset), np.int64)
    usable = np.zeros(len(dataset), bool)
    episodes = dataset.episodes
    for first, last, behaviour in zip(
        episodes["dataset_from_index"], episodes["dataset_to_index"], episodes["behaviour"], strict=True
    ):
        ends[first:last] = last
        usable[first:last] = behaviour in EXPERTS
    return Demonstrations(
        np.flatnonzero(usable),
        columns["observation.state"].astype(np.float32),
        columns["action"].astype(np.float32),
        ends,
        columns["task_index"],
    )


def chunks(demos: Demonstrations, rows: NDArray[np.int64], horizon: int) -> tuple[Tensor, Tensor]:
    """Return the next `horizon` actions (B, H, A) of each row and a mask (B, H, 1), zero past the episode's end."""
    ahead = rows[:, None] + np.arange(horizon)
    inside = ahead < demos.ends[rows][:, None]
    actions = demos.action[np.minimum(ahead, demos.ends[rows][:, None] - 1)]
    return torch.from_numpy(actions), torch.from_numpy(inside[..., None].astype(np.float32))


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


def train(
    dataset: Dataset, recipe: Recipe, out: Path, config: BcConfig = BcConfig(), model: MiniConfig = MiniConfig(),  # noqa: B008
    progress: Callable[[int, float], None] = lambda step, loss: None,
) -> MiniNetwork:  # fmt: skip
    """Clone the experts of `dataset` and write `config.json` and `model.safetensors` into `out`.

    Args:
        dataset: demonstrations, as `openral train collect` makes them.
        recipe: the words of each task.
        out: folder of the checkpoint; an interrupted run in it goes on where it stopped.
        config: hyper-parameters.
        model: shape of the network.
        progress: called after each step with the number of steps done and the loss.
    """
    torch.set_num_threads(config.threads)
    torch.manual_seed(config.seed)
    demos, frames = load_demonstrations(dataset), frame_cache(dataset, model.image_size)
    sentences = SentencePool(recipe, SentenceEncoder())
    network = MiniNetwork(model)
    network.state_mean.copy_(torch.from_numpy(demos.state[demos.frames].mean(0)))
    network.state_std.copy_(torch.from_numpy(demos.state[demos.frames].std(0)))
    optimiser = torch.optim.AdamW(
        network.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay
    )
    state_file, run = out / "run.safetensors", identity(config, model, recipe, dataset.info)
    for step in range(restore_run(state_file, network, optimiser, run), config.steps):
        # The batch depends on seed and step alone, so a resumed run sees what an unbroken one would have seen.
        rng = np.random.default_rng([config.seed, step])
        rows = np.sort(rng.choice(demos.frames, config.batch_size))
        images = torch.from_numpy(augment(frames[rows], rng))
        state = torch.from_numpy(demos.state[rows])
        words = sentences.draw(demos.task[rows], config.sentence_noise, rng)
        target, mask = chunks(demos, rows, model.chunk_size)
        for group in optimiser.param_groups:
            group["lr"] = config.learning_rate * schedule(step, config)
        with torch.autocast("cpu", torch.bfloat16):
            predicted = network(images, state, words)
        loss = ((predicted.float() - target).abs() * mask).sum() / (mask.sum() * model.action_dim)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        progress(step + 1, loss.item())
        if (step + 1) % config.save_every == 0:
            save_run(state_file, network, optimiser, step + 1, run)
    save_network(network, model, out, {"steps": str(config.steps)})
    state_file.unlink(missing_ok=True)
    return network
