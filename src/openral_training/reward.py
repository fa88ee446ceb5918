"""Training of a `mini` progress and success model on legs of experts, near misses, failures and wrong instructions.

The label of success is the simulator's judgement, for each frame and each task of its scene. The label of progress is
`1 - time to go / reference` on an expert's way to a success, 1 wherever the task is done, and 0 for instructions of
another scene. The reference is the time that the longer legs of the task take, so that few legs begin with progress 0
for long. Other frames have a label of success alone; the model predicts their progress from similar expert frames.

The model gets the frames of all cameras of the dataset, and beside each the attempt's first one. As an auxiliary target
of training it predicts the distances from the object to its target and from the hand to the object, so that it attends
to the object and not to the arm alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, smooth_l1_loss

from openral_core.errors import DatasetError
from openral_core.sentence_encoder import SentenceEncoder
from openral_data.lerobot_v3 import Dataset
from openral_reward_monitor.models.mini.network import MiniRewardConfig, MiniRewardNetwork
from openral_rskill.mini import WEIGHTS
from openral_rskill.mini.checkpoint import load_network, save_network
from openral_training.bc import EXPERTS, BcConfig, SentencePool, no_experts, schedule
from openral_training.checkpoint import (
    identity,
    labels_of,
    origin,
    origin_of_start,
    restore_run,
    same_form,
    save_run,
)
from openral_training.cuda_graph_step import recorded
from openral_training.data_parallel import TrainingProcess, join
from openral_training.devices import mixed_precision
from openral_training.frames import augmentation, frame_cache
from openral_training.prefetch import made_ahead
from openral_training.training_folder import RUN_STATE
from openral_training.training_recipe import Recipe

LEAST_REFERENCE_S, REFERENCE_QUANTILE = 0.5, 0.95
"""[s] least reference time from progress 0 to success; quantile of the durations of a task's legs that it else is."""
MODEL = MiniRewardConfig(fine=32, before=True)
"""Shape of a new network but for the number of cameras; it has fine keypoints, since a puck of 4 cm is 3 px wide in
MetaWorld's corner camera."""
OWN, SCENE = 0.35, 0.5
"""Shares of a batch: experts' frames with the instruction of their task; any frames with that of a task of their scene.

The rest is any frames with the instruction of any task."""
BEGUN, MIDWAY = 0.5, 0.3
"""Shares of a batch whose first frame is the episode's first, or a random earlier one; else it is the frame itself."""
DISTANCES = ("label.object_to_target", "label.hand_to_object")
DISTANCE_WEIGHT, DISTANCE_UNIT_M, DISTANCE_MOST = 0.5, 0.1, 3.0
"""Weight of the error in the distances; [m] their unit; greatest distance in these units, at which they are clipped."""


@dataclass(frozen=True)
class RewardLabels:
    """The labels of N frames for each of K tasks."""

    success: NDArray[np.float32]
    """(N, K) 0 or 1"""
    progress: NDArray[np.float32]
    """(N, K) 0..1, nan where it is unknown."""
    task: NDArray[np.int64]
    """(N,) the task of the frame's episode."""
    own: NDArray[np.int64]
    """(F,) frames of expert episodes."""
    scenes: list[list[int]]
    """K lists of the indices of the tasks in each task's scene."""
    reference_s: NDArray[np.float64]
    """(K,) [s] from progress 0 to success."""
    first: NDArray[np.int64]
    """(N,) row of the first frame of each frame's episode."""
    distances: NDArray[np.float32]
    """(N, K, 2) DISTANCES in units of DISTANCE_UNIT_M; nan where unknown."""


class RewardLearner(nn.Module):
    """A reward network with a linear layer that predicts the distances, which the checkpoint does not have."""

    def __init__(self, network: MiniRewardNetwork) -> None:
        super().__init__()
        self.network = network
        self.distances = nn.Linear(network.config.hidden, len(DISTANCES))

    def forward(self, images: Tensor, sentences: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the logits of progress and of success (B,), and the distances (B, 2); see the network's arguments."""
        features = self.network.features(images, sentences)
        return *self.network.heads(features), self.distances(features).float()


def label(dataset: Dataset, recipe: Recipe) -> RewardLabels:
    """Return the labels of every frame of a dataset."""
    columns = dataset.columns(["label.success", "task_index", *DISTANCES])
    success, task = columns["label.success"].astype(np.float32), columns["task_index"]
    progress = np.full(success.shape, np.nan, np.float32)
    scenes = [[recipe.task_ids.index(other) for other in recipe.world_of(name)] for name in recipe.task_ids]
    for index, members in enumerate(scenes):
        foreign = np.setdiff1d(np.arange(len(scenes)), members)
        progress[np.ix_(np.flatnonzero(task == index), foreign)] = 0.0
    legs = _expert_legs(dataset, task)
    rate_hz = float(dataset.info["fps"])
    lasting: list[list[float]] = [[] for _ in recipe.task_ids]
    for leg, column in legs:
        lasting[column].append(float(np.argmax(success[leg, column] > 0)) / rate_hz)
    reference_s = np.array([_reference_s(times) for times in lasting])
    own = np.zeros(len(dataset), bool)
    for leg, column in legs:
        own[leg] = True
        progress[leg, column] = hindsight(success[leg, column] > 0, reference_s[column] * rate_hz)
    progress[success > 0] = 1.0
    bounds = dataset.episodes["dataset_from_index"], dataset.episodes["dataset_to_index"]
    first = np.concatenate([np.full(end - begin, begin) for begin, end in zip(*bounds, strict=True)])
    metres = np.stack([columns[name] for name in DISTANCES], axis=-1)
    distances = np.minimum(metres / DISTANCE_UNIT_M, DISTANCE_MOST).astype(np.float32)
    return RewardLabels(success, progress, task, np.flatnonzero(own), scenes, reference_s, first, distances)


def _reference_s(lasting_s: list[float]) -> float:
    """Return the time [s] from progress 0 to success of a task, by the durations of its legs."""
    longer = float(np.quantile(lasting_s, REFERENCE_QUANTILE)) if lasting_s else 0.0
    return max(LEAST_REFERENCE_S, longer)


def _expert_legs(dataset: Dataset, task: NDArray[np.int64]) -> list[tuple[slice, int]]:
    """Return the rows of each episode that succeeds on purpose, and the column of its task."""
    episodes = dataset.episodes
    bounds = zip(
        episodes["dataset_from_index"], episodes["dataset_to_index"], episodes["behaviour"], strict=True
    )
    return [
        (slice(first, last), int(task[first])) for first, last, behaviour in bounds if behaviour in EXPERTS
    ]


def hindsight(success: NDArray[np.bool_], reference: float) -> NDArray[np.float32]:
    """Return the progress (T,) of an episode that succeeds at least once, from its success flags (T,).

    Args:
        success: whether the task is done in each frame.
        reference: [frames] from progress 0 to success.
    """
    steps = np.arange(len(success))
    arrivals = np.flatnonzero(success)
    nearest = arrivals[np.minimum(np.searchsorted(arrivals, steps), len(arrivals) - 1)]
    togo = np.maximum(nearest - steps, 0)
    progress: NDArray[np.float32] = np.clip(1.0 - togo / reference, 0.0, 1.0).astype(np.float32)
    return progress


def draw(
    labels: RewardLabels, count: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw frames, and the tasks whose instructions they are combined with: two arrays (count,)."""
    own, scene = int(OWN * count), int(SCENE * count)
    rows = np.concatenate([rng.choice(labels.own, own), rng.integers(0, len(labels.task), count - own)])
    tasks = labels.task[rows].copy()
    for i in range(own, own + scene):
        tasks[i] = rng.choice(labels.scenes[tasks[i]])
    tasks[own + scene :] = rng.integers(0, len(labels.scenes), count - own - scene)
    order = np.argsort(rows)
    return rows[order], tasks[order]


def attempt_began(
    labels: RewardLabels, rows: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw for each frame (B,) an earlier frame of its episode as the first one of the attempt."""
    first, chance = labels.first[rows], rng.random(len(rows))
    midway = rng.integers(first, rows + 1)
    found: NDArray[np.int64] = np.select([chance < BEGUN, chance < BEGUN + MIDWAY], [first, midway], rows)
    return found


class RewardBatch(NamedTuple):
    """One process's share of the batch of a step: b rows, all on one device."""

    images: Tensor
    """(b, V * 3 or 6, S, S) images of V cameras."""
    words: Tensor
    """(b, 384) embeddings of the instructions."""
    success: Tensor
    """(b,) 0 or 1"""
    progress: Tensor
    """(b,) 0..1; nan where unknown."""
    distances: Tensor
    """(b, 2) see `RewardLabels.distances`."""
    counts: Tensor
    """(3,) numbers of known labels of success, progress and distances in the batches of all processes, at least 1."""

    @classmethod
    def of(
        cls,
        labels: RewardLabels,
        rows: NDArray[np.int64],
        tasks: NDArray[np.int64],
        share: slice,
        images: Tensor,
        words: Tensor,
    ) -> RewardBatch:
        """Return the labels of a share of the rows and tasks (B,), with its images and words, on the images' device."""
        wanted = [known[rows, tasks] for known in (labels.success, labels.progress, labels.distances)]
        counts = np.array([max(1, np.isfinite(known).sum()) for known in wanted], np.float32)
        parts = (*(known[share] for known in wanted), counts)
        return cls(
            images, words.to(images.device), *(torch.from_numpy(part).to(images.device) for part in parts)
        )


class RewardBatches:
    """Draws a dataset's batches, each of which depends on seed and step alone; see `bc.Batches`."""

    def __init__(
        self,
        labels: RewardLabels,
        frames: Sequence[NDArray[np.uint8]],
        sentences: SentencePool,
        config: BcConfig,
        process: TrainingProcess,
        before: bool,
    ) -> None:
        """Keep the data of the batches.

        Args:
            labels: of the dataset.
            frames: (N, S, S, 3) uint8 of each camera.
            sentences: of each task.
            config: hyper-parameters.
            process: whose share of each batch is made.
            before: whether images also hold the attempt's first frame.
        """
        self._labels, self._frames, self._sentences = labels, frames, sentences
        self._config, self._process, self._before = config, process, before

    def make(self, step: int) -> RewardBatch:
        """Return the process's share of a step's batch."""
        rng = np.random.default_rng([self._config.seed, step])
        rows, tasks = draw(self._labels, self._config.batch_size, rng)
        share = self._process.share(len(rows))
        shown = [rows[share]]
        if self._before:
            shown.append(attempt_began(self._labels, rows, rng)[share])
        images = []
        for frames in self._frames:
            look = augmentation(len(rows), rng).of(share)  # the same for all pictures of a camera
            images += [look.on(frames[which], self._process.device) for which in shown]
        words = self._sentences.draw(tasks, self._config.sentence_noise, rng)[share]
        return RewardBatch.of(self._labels, rows, tasks, share, torch.cat(images, dim=1), words)


def train(
    dataset: Dataset,
    recipe: Recipe,
    out: Path,
    config: BcConfig = BcConfig(steps=2500),  # noqa: B008
    model: MiniRewardConfig = MODEL,
    *,
    device: str = "cpu",
    warm_start: Path | None = None,
    progress: Callable[[int, float], None] = lambda step, loss: None,
) -> MiniRewardNetwork:
    """Train on `dataset` and write `config.json` and `model.safetensors` into `out`.

    Under torchrun each process computes its share of every batch, and the first one writes.

    Args:
        dataset: demonstrations and failures, as `openral train collect` makes them.
        recipe: sentences of each task, and the tasks of each scene.
        out: folder of the checkpoint; an interrupted run in it is resumed.
        config: hyper-parameters, the same as for behaviour cloning.
        model: shape of the network; its number of views is that of the dataset's cameras.
        device: auto, or a torch device; the batches are the same on each.
        warm_start: folder of a checkpoint to begin with, of all cameras or of the first; None: the network is new.
        progress: called after each step with the number of steps done and the loss.

    Raises:
        ContractError: the batch has fewer rows than there are processes.
        DatasetError: the dataset was collected for other tasks than the recipe's, or has no expert's episode.
        InstallationError: torch cannot use the device.
    """
    if dataset.tasks != recipe.task_ids:
        raise DatasetError(
            f"{dataset.root}: was collected for {', '.join(dataset.tasks)}, the recipe has "
            f"{', '.join(recipe.task_ids)}; name with --recipe the one that it was collected with"
        )
    process = join(device)
    process.share(config.batch_size)  # raises ContractError before images are decoded
    torch.set_num_threads(config.threads)
    torch.manual_seed(config.seed)
    model = replace(model, views=len(dataset.cameras))
    labels = label(dataset, recipe)
    if not labels.own.size:
        raise no_experts(dataset)
    with process.first():
        frames = [frame_cache(dataset, camera, model.image_size) for camera in dataset.cameras]
    heard = [recipe.tasks[task].train for task in recipe.task_ids]
    network = _begin(model, warm_start)
    learner = RewardLearner(network).to(process.device)
    optimiser = torch.optim.AdamW(
        learner.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay
    )
    state_file = out / RUN_STATE
    begun_with = warm_start and warm_start / WEIGHTS
    run = identity(config, model, recipe, dataset.info, begun_with, *labels_of(dataset))
    sentences = SentencePool(heard, SentenceEncoder())
    batches = RewardBatches(labels, frames, sentences, config, process, model.before)
    steps = range(restore_run(state_file, learner, optimiser, run), config.steps)
    learn = gradients(learner, process, batches.make(steps.start))
    for step, batch in made_ahead(batches.make, steps):
        for group in optimiser.param_groups:
            group["lr"] = config.learning_rate * schedule(step, config)
        loss = learn(batch)
        optimiser.step()
        progress(step + 1, process.total(loss))
        if process.leads and (step + 1) % config.save_every == 0:
            save_run(state_file, learner, optimiser, step + 1, run)
    process.leave()
    if not process.leads:
        return network
    reference = zip(recipe.task_ids, labels.reference_s, strict=True)
    durations = ", ".join(f"{task} {seconds:.2f}" for task, seconds in reference)
    made_of = {**origin(dataset, recipe, config.seed), "steps": str(config.steps), "reference_s": durations}
    if warm_start is not None:
        made_of |= origin_of_start(warm_start)
    save_network(network, model, out, made_of)
    state_file.unlink(missing_ok=True)
    return network


def gradients(
    learner: RewardLearner, process: TrainingProcess, first: RewardBatch
) -> Callable[[RewardBatch], Tensor]:
    """Return a function that leaves a batch's gradients in the learner and returns the process's share of the loss.

    Args:
        learner: on the process's device.
        process: this process.
        first: a batch with which the step is recorded, see `recorded`.
    """
    parallel = process.parallel(learner)

    def step(*tensors: Tensor) -> Tensor:
        loss = batch_loss(parallel, RewardBatch(*tensors))
        learner.zero_grad()
        (process.size * loss).backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(learner.network.parameters(), 1.0)
        return loss.detach()

    learn = recorded(step, list(learner.parameters()), first, process)
    return lambda batch: learn(*batch)


def batch_loss(forward: nn.Module, batch: RewardBatch) -> Tensor:
    """Return the error in success, in progress and in the distances, the latter two where they are known.

    The errors of all processes' shares add up to the means of the whole batch. No operation has a shape that depends
    on a value, so that it can be captured as a CUDA graph.

    Args:
        forward: a RewardLearner, or a module that wraps it, on the batch's device.
        batch: a share of a batch.
    """
    with mixed_precision(batch.images.device.type):
        progress, success, distances = forward(batch.images, batch.words)
    known, measured = ~batch.progress.isnan(), ~batch.distances.isnan()
    of_progress = binary_cross_entropy_with_logits(progress, batch.progress.nan_to_num(), reduction="none")
    of_distances = smooth_l1_loss(distances, batch.distances.nan_to_num(), reduction="none")
    errors = (
        binary_cross_entropy_with_logits(success, batch.success, reduction="sum"),
        (of_progress * known).sum(),
        DISTANCE_WEIGHT * (of_distances * measured).sum(),
    )
    return (torch.stack(errors) / batch.counts).sum()


def _begin(model: MiniRewardConfig, warm_start: Path | None) -> MiniRewardNetwork:
    """Return a new network, or that of a checkpoint; one of a single camera gets the further ones."""
    if warm_start is None:
        return MiniRewardNetwork(model)

    def make(**fields: Any) -> MiniRewardNetwork:
        found = MiniRewardConfig(**fields)
        return MiniRewardNetwork(same_form(found, replace(model, views=1) if found.views == 1 else model))

    network = load_network(warm_start, make)
    return network if network.config == model else with_views(network, model.views)


def with_views(network: MiniRewardNetwork, views: int) -> MiniRewardNetwork:
    """Return a network of several cameras that scores at first as one of the first camera does.

    Each further camera begins with the first one's convolutions, and is not heeded until training gives it a weight.
    """
    larger = MiniRewardNetwork(replace(network.config, views=views))
    larger.trunk.load_state_dict(network.trunk.state_dict())
    for trunk in larger.other_trunks:
        trunk.load_state_dict(network.trunk.state_dict())
    head = network.head.state_dict()
    first = head["0.weight"]
    head["0.weight"] = torch.cat([first, first.new_zeros(len(first), first.shape[1] * (views - 1))], dim=1)
    larger.head.load_state_dict(head)
    return larger
