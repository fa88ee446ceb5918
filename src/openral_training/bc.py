"""Behaviour cloning of a `mini` policy, with a masked L1 loss on action chunks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from openral_core.errors import ContractError, DatasetError
from openral_core.sentence_encoder import SentenceEncoder
from openral_data.lerobot_v3 import Dataset
from openral_policy_nodes.families.mini.network import MiniConfig, MiniNetwork, MiniOutput
from openral_rskill.mini import WEIGHTS
from openral_rskill.mini.checkpoint import load_network, save_network
from openral_training.checkpoint import (
    identity,
    labels_of,
    origin,
    origin_of_start,
    restore_run,
    same_form,
    save_run,
)
from openral_training.cloning.camera_subset import with_cameras
from openral_training.cloning.data import FINE, CloningData, Demonstrations
from openral_training.cloning.proposals import mixture_error, with_proposals
from openral_training.cuda_graph_step import recorded
from openral_training.data_parallel import TrainingProcess, join
from openral_training.devices import mixed_precision
from openral_training.disturbed_expert import CORRECTION
from openral_training.frames import augmentation, frame_cache
from openral_training.mapping.dataset_recipe import SkillRecipe
from openral_training.mapping.mapped_data import mapped_data, write_manifest
from openral_training.prefetch import made_ahead
from openral_training.training_folder import RUN_STATE
from openral_training.training_recipe import Recipe

EXPERTS = ("expert", "noisy_expert", CORRECTION)
CHUNK = "label.chunk"
LEAST_SPREAD = 1e-6
"""Numbers that vary by less are treated as constant."""
RANGE_MARGIN = 0.1
"""Margin of a scaled network's actions on each side of the demonstrations' range, as a share of that range."""


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
    """Standard deviation of the noise on each of the 384 numbers of a sentence embedding, for unseen paraphrases."""
    landmark_weight: float = 0.2
    """Weight of the error in the positions of object and target, relative to that of the actions."""
    keep: float = 0.0
    """Share of the weights of `warm_start` in the result, 0 to 1. A mean of both keeps skills that the data would wear
    away (Wortsman et al. 2022, "Robust fine-tuning of zero-shot models", arXiv 2109.01903)."""
    save_every: int = 500
    """Optimiser steps between two saved states, from which a killed run is resumed."""
    seed: int = 0
    threads: int = 1
    """Torch threads; more threads than idle cores make training slower."""


def no_experts(dataset: Dataset) -> DatasetError:
    """Return the error about a collected dataset without an episode of an expert."""
    return DatasetError(
        f"{dataset.root}: holds no episode of an expert, from whose actions is learnt; make some with `openral train "
        "collect`, or name another --dataset"
    )


def load_demonstrations(dataset: Dataset) -> Demonstrations:
    """Return the columns of a dataset; the frames to train on are those with an expert's action as the label.

    Raises:
        DatasetError: there are none.
    """
    names = ("observation.state", CHUNK, "label.ahead", "label.landmarks", "task_index")
    state, chunk, ahead, landmarks, task = dataset.columns(names).values()
    usable = np.zeros(len(dataset), bool)
    episodes = dataset.episodes
    for first, last, behaviour in zip(
        episodes["dataset_from_index"], episodes["dataset_to_index"], episodes["behaviour"], strict=True
    ):
        usable[first:last] = behaviour in EXPERTS
    if not usable.any():
        raise no_experts(dataset)
    actions = chunk.reshape(len(dataset), -1, dataset.info["features"]["action"]["shape"][0])
    return Demonstrations(np.flatnonzero(usable), state, actions, ahead, landmarks, task)


def network_for(dataset: Dataset, proposals: int = 1) -> MiniConfig:
    """Return the shape of a network that takes a dataset's cameras and proprioception and proposes its actions."""
    features = dataset.info["features"]
    actions = int(features["action"]["shape"][0])
    return MiniConfig(
        cameras=dataset.cameras,
        state_dim=features["observation.state"]["shape"][0],
        action_dim=actions,
        chunk_size=features[CHUNK]["shape"][0] // actions,
        fine=FINE,
        landmarks=features["label.landmarks"]["shape"][0],
        proposals=proposals,
    )


def cloning_data(dataset: Dataset, recipe: Recipe | SkillRecipe) -> CloningData:
    """Return the data to clone: the experts of a dataset of openral, or the mapped features of any other.

    Raises:
        DatasetError: dataset and recipe do not fit.
    """
    if isinstance(recipe, SkillRecipe):
        return mapped_data(dataset, recipe)
    if CHUNK not in dataset.info["features"]:
        raise DatasetError(
            f"{dataset.root}: has no {CHUNK}, so `openral train collect` did not make it; write a recipe that maps "
            "its features to a skill's manifest, and name it with --recipe (docs/train.md)"
        )
    model = network_for(dataset, recipe.proposals)
    unknown = [task for task in dataset.tasks if task not in recipe.tasks]
    if unknown:
        raise DatasetError(
            f"{dataset.root}: was collected for {unknown[0]}, which the recipe lacks; name with --recipe the one that "
            "it was collected with"
        )
    words = [recipe.tasks[task] for task in dataset.tasks]  # in the order of the rows' task_index
    sentences, weights = tuple(tuple(each.train) for each in words), np.array([each.weight for each in words])
    oldest = _oldest_pictures(dataset, round(recipe.picture_delay_s * dataset.info["fps"]))
    return CloningData(model, load_demonstrations(dataset), model.cameras, sentences, weights, oldest)


def _oldest_pictures(dataset: Dataset, delay: int) -> NDArray[np.int64] | None:
    """Return for each row the row `delay` rows before it, at least its episode's first; None without a delay."""
    if not delay:
        return None
    first = np.array(dataset.episodes["dataset_from_index"])
    rows = np.arange(len(dataset))
    begin = first[np.searchsorted(first, rows, side="right") - 1]
    oldest: NDArray[np.int64] = np.maximum(rows - delay, begin)
    return oldest


class SentencePool:
    """The embeddings of the training sentences of each task, from which one is drawn for each sample."""

    def __init__(self, sentences: Sequence[Sequence[str]], encoder: SentenceEncoder) -> None:
        """Encode the sentences of all tasks, given by task index."""
        self._pools = [encoder.encode(list(words)) for words in sentences]

    def draw(self, tasks: NDArray[np.int64], noise: float, rng: np.random.Generator) -> Tensor:
        """Return (B, 384): a random sentence of each task (B,), with Gaussian noise of that standard deviation."""
        rows = [self._pools[task][rng.integers(len(self._pools[task]))] for task in tasks]
        blurred = np.stack(rows) + rng.normal(0, noise, (len(rows), len(rows[0])))
        return torch.from_numpy(blurred.astype(np.float32))


class CloningBatch(NamedTuple):
    """One process's share of the batch of a step: b rows, all on one device."""

    images: Tensor
    """(b, C, 3, S, S) images of C cameras."""
    words: Tensor
    """(b, 384) embeddings of the instructions."""
    state: Tensor
    """(b, D) state vectors."""
    chunk: Tensor
    """(b, H, A) actions."""
    ahead: Tensor
    """(b,) how many of the H actions are within the episode."""
    landmarks: Tensor
    """(b, L) [m] landmarks; nan where unknown."""
    shares: Tensor
    """(2,) weights of this process's means: its shares of the whole batch's labels of actions and of landmarks."""

    @classmethod
    def of(
        cls, demos: Demonstrations, rows: NDArray[np.int64], share: slice, images: Tensor, words: Tensor
    ) -> CloningBatch:
        """Return the labels of a share of the rows (B,), with its images and words, on the device of the images."""
        own = rows[share]
        counted = np.minimum(demos.ahead[rows], demos.chunk.shape[1])
        shares = np.array([counted[share].sum() / counted.sum(), len(own) / len(rows)], np.float32)
        labels = (demos.state[own], demos.chunk[own], demos.ahead[own], demos.landmarks[own], shares)
        return cls(
            images, words.to(images.device), *(torch.from_numpy(part).to(images.device) for part in labels)
        )


class Batches:
    """Draws a dataset's batches, each of which depends on seed and step alone.

    So a resumed run draws the same batches as an uninterrupted one, and all processes of a run draw the same.
    """

    def __init__(
        self,
        data: CloningData,
        frames: Sequence[NDArray[np.uint8]],
        sentences: SentencePool,
        config: BcConfig,
        process: TrainingProcess,
    ) -> None:
        """Keep the data; `frames` has the images (N, S, S, 3) of each view, `process` computes its share of batches."""
        self._data, self._frames, self._sentences = data, frames, sentences
        self._config, self._process = config, process
        self._share = process.share(config.batch_size)
        weights = data.weights[data.demonstrations.task[data.demonstrations.frames]]
        self._chances = weights / weights.sum()

    def make(self, step: int) -> CloningBatch:
        """Return the process's share of a step's batch."""
        rng, demos = np.random.default_rng([self._config.seed, step]), self._data.demonstrations
        rows = np.sort(rng.choice(demos.frames, self._config.batch_size, p=self._chances))
        pictured = self._data.pictured(rows, rng)[self._share]
        looks = [augmentation(len(rows), rng).of(self._share) for _ in self._frames]
        images = [
            look.on(view[pictured], self._process.device)
            for look, view in zip(looks, self._frames, strict=True)
        ]
        words = self._sentences.draw(demos.task[rows], self._config.sentence_noise, rng)
        return CloningBatch.of(demos, rows, self._share, torch.stack(images, dim=1), words[self._share])


def schedule(step: int, config: BcConfig) -> float:
    """Return the factor of the learning rate: linear warm-up, then half a cosine to zero."""
    if step < config.warmup_steps:
        return (step + 1) / config.warmup_steps
    done = (step - config.warmup_steps) / max(1, config.steps - config.warmup_steps)
    return 0.5 * (1 + math.cos(math.pi * min(1.0, done)))


def prepare(demos: Demonstrations, model: MiniConfig, warm_start: Path | None) -> MiniNetwork:
    """Return the network to train: a new one with the statistics of the demonstrations, or that of a checkpoint.

    Raises:
        PolicyError: `warm_start` holds no checkpoint of this form.
    """
    if warm_start is not None:
        return _warm_started(warm_start, model)
    network = MiniNetwork(model)
    state = demos.state[demos.frames]
    spread = state.std(0)
    network.state_mean.copy_(torch.from_numpy(state.mean(0)))
    network.state_std.copy_(torch.from_numpy(np.where(spread < LEAST_SPREAD, 1.0, spread).astype(np.float32)))
    if model.landmarks:
        landmarks = demos.landmarks[demos.frames]
        network.landmark_mean.copy_(torch.from_numpy(np.nan_to_num(np.nanmean(landmarks, 0))))
        network.landmark_std.copy_(torch.from_numpy(np.nan_to_num(np.nanstd(landmarks, 0)) + 1e-3))
    if model.scaled:
        low, high = demos.chunk[demos.frames].min((0, 1)), demos.chunk[demos.frames].max((0, 1))
        room = np.where(high - low < LEAST_SPREAD, 1.0, RANGE_MARGIN * (high - low))
        network.action_low.copy_(torch.from_numpy(low - room))
        network.action_high.copy_(torch.from_numpy(high + room))
    return network


def _warm_started(folder: Path, model: MiniConfig) -> MiniNetwork:
    """Load a checkpoint of this shape.

    One with further cameras can initialise a network without them, and one with a single proposal one with several.
    """

    def make(**fields: Any) -> MiniNetwork:
        found = MiniConfig(**fields)
        cameras = found.cameras if set(model.cameras) < set(found.cameras) else model.cameras
        proposals = 1 if found.proposals == 1 else model.proposals
        return MiniNetwork(same_form(found, replace(model, cameras=cameras, proposals=proposals)))

    network = load_network(folder, make)
    if network.config.cameras != model.cameras:
        network = with_cameras(network, model.cameras)
    return network if network.config == model else with_proposals(network, model.proposals)


def losses(
    network: MiniNetwork, batch: CloningBatch, forward: nn.Module | None = None
) -> tuple[Tensor, Tensor]:
    """Return the mean absolute error of the actions that belong to the episode, and of the landmarks [std].

    The error of several proposals is their `mixture_error`. Actions of a scaled network are normalised to -1..1.
    Without landmarks their error is 0.

    Args:
        network: the policy.
        batch: on its device.
        forward: module that wraps the network, such as DistributedDataParallel; None: the network itself.
    """
    device = network.state_mean.device
    with mixed_precision(device.type):
        output: MiniOutput = (forward or network)(batch.images, batch.state, batch.words)
    target, ahead = batch.chunk, batch.ahead
    steps = ahead.clamp(1, target.shape[1]).float()
    mask = torch.arange(target.shape[1], device=device) < ahead[:, None]
    error = (output.chunks.float() - target[:, None]).abs() * mask[:, None, :, None]
    if network.config.scaled:
        error = error / ((network.action_high - network.action_low) / 2)
    means = error.sum((2, 3)) / (steps * target.shape[2])[:, None]
    action = (mixture_error(means, output.logits.float()) * steps).sum() / steps.sum()
    where = output.landmarks
    if where is None:
        return action, torch.zeros_like(action)
    truth = (batch.landmarks - network.landmark_mean) / network.landmark_std
    return action, (where.float() - truth).nan_to_num().abs().mean()


def gradients(
    network: MiniNetwork, config: BcConfig, process: TrainingProcess, first: CloningBatch
) -> Callable[[CloningBatch], Tensor]:
    """Return a function that leaves a batch's gradients in the network and returns the process's loss of actions.

    Args:
        network: on the process's device.
        config: hyper-parameters.
        process: this process; the means of all, weighted by `CloningBatch.shares`, add up to those of the batch.
        first: a batch with which the step is recorded, see `recorded`.
    """
    parallel = process.parallel(network)

    def step(*tensors: Tensor) -> Tensor:
        batch = CloningBatch(*tensors)
        action, landmark = losses(network, batch, parallel)
        action, landmark = action * batch.shares[0], landmark * batch.shares[1]
        network.zero_grad()
        loss = process.size * (action + config.landmark_weight * landmark)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        return action.detach()

    learn = recorded(step, list(network.parameters()), first, process)
    return lambda batch: learn(*batch)


def train(
    dataset: Dataset,
    recipe: Recipe | SkillRecipe,
    out: Path,
    config: BcConfig = BcConfig(),
    *,
    device: str = "cpu",
    warm_start: Path | None = None,
    preparing: Callable[[str, int], None] = lambda camera, frames: None,
    progress: Callable[[int, float], None] = lambda step, loss: None,
) -> MiniNetwork:
    """Clone the demonstrations of `dataset` and write `config.json` and `model.safetensors` into `out`.

    With a SkillRecipe `rskill.yaml` is written beside them, so that `out` is a skill. Under torchrun each process
    computes its share of every batch, and the first one writes.

    Args:
        dataset: demonstrations, as `openral train collect` makes them, or of any LeRobot v3 dataset.
        recipe: sentences of each task; for other datasets, the mapping of their features.
        out: folder of the checkpoint; an interrupted run in it is resumed.
        config: hyper-parameters.
        device: auto, or a torch device; the batches are the same on each.
        warm_start: folder of a checkpoint to begin with; None: the network is new.
        preparing: called while images are decoded, with the camera and the number of frames since the last call.
        progress: called after each step with the number of steps done and the loss of the actions.

    Raises:
        ContractError: the batch has fewer rows than there are processes, or `keep` is given without `warm_start`.
        DatasetError: dataset and recipe do not fit; raised before training begins.
        InstallationError: torch cannot use the device.
    """
    if config.keep and warm_start is None:
        raise ContractError(
            f"keep {config.keep:g}: there is nothing to keep a share of; give a warm_start, or leave keep out"
        )
    process = join(device)
    process.share(config.batch_size)  # raises ContractError before images are decoded
    torch.set_num_threads(config.threads)
    torch.manual_seed(config.seed)
    data = cloning_data(dataset, recipe)
    model, demos = data.model, data.demonstrations
    with process.first():
        frames = [
            frame_cache(dataset, view, model.image_size, partial(preparing, view)) for view in data.views
        ]
    network = prepare(demos, model, warm_start).to(process.device)
    start = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    optimiser = torch.optim.AdamW(
        network.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay
    )
    state_file = out / RUN_STATE
    begun_with = warm_start and warm_start / WEIGHTS
    begun = origin_of_start(warm_start) if warm_start else {}
    run = identity(config, model, recipe, dataset.info, begun_with, *labels_of(dataset))
    batches = Batches(data, frames, SentencePool(data.sentences, SentenceEncoder()), config, process)
    steps = range(restore_run(state_file, network, optimiser, run), config.steps)
    learn = gradients(network, config, process, batches.make(steps.start))
    for step, batch in made_ahead(batches.make, steps):
        for group in optimiser.param_groups:
            group["lr"] = config.learning_rate * schedule(step, config)
        loss = learn(batch)
        optimiser.step()
        progress(step + 1, process.total(loss))
        if process.leads and (step + 1) % config.save_every == 0:
            save_run(state_file, network, optimiser, step + 1, run)
            save_network(network, model, out, {"steps": f"{step + 1} of {config.steps}"})
    if config.keep:
        keep_share(network, start, config.keep)
    if process.leads:
        write_checkpoint(network, dataset, recipe, out, config, begun)
        state_file.unlink(missing_ok=True)
    process.leave()
    return network


def keep_share(network: MiniNetwork, start: Mapping[str, Tensor], keep: float) -> None:
    """Replace the weights by the mean of theirs and those of `start`, which has the share `keep`."""
    with torch.no_grad():
        for name, tensor in network.state_dict().items():
            tensor.lerp_(start[name], keep)


def write_checkpoint(
    network: MiniNetwork,
    dataset: Dataset,
    recipe: Recipe | SkillRecipe,
    out: Path,
    config: BcConfig,
    begun: Mapping[str, str],
) -> None:
    """Write configuration and weights with their provenance; with a SkillRecipe the manifest, too.

    `begun` is the provenance of the checkpoint that the training began with, empty without one.
    """
    made_of = {**origin(dataset, recipe, config.seed), **begun, "steps": str(config.steps)}
    if config.keep:
        made_of["keep"] = str(config.keep)
    save_network(network, network.config, out, made_of)
    if isinstance(recipe, SkillRecipe):
        write_manifest(out, dataset, recipe)
