"""Training of the small detector on labelled pictures: heat maps, colours and sizes.

The target of a heat map is a Gaussian bump at each thing. With the quality focal loss (Li et al. 2020,
arXiv:2006.04388) a peak keeps the form of the bump, so its position can be interpolated between the cells.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, l1_loss, logsigmoid

from openral_core.errors import ContractError
from openral_perception.colours import COLOURS
from openral_perception.detectors.mini.network import STRIDE, MiniDetectorConfig, MiniDetectorNetwork
from openral_rskill.mini import WEIGHTS
from openral_rskill.mini.checkpoint import load_network, save_network
from openral_rskill.result_provenance import commit
from openral_rskill.store.lockfile import sha256_of
from openral_training.checkpoint import identity, origin_of_start, restore_run, same_form, save_run
from openral_training.detector.pictures import LEAST_PIXELS
from openral_training.detector.recipe import DetectorRecipe

BATCH, LEARNING_RATE, DECAY = 32, 2e-3, 1e-2
SIGMA_CELLS = 0.8
"""[cells] standard deviation of the bump of a thing in its heat map."""
COLOUR_WEIGHT, SIZE_WEIGHT = 0.5, 0.1
"""Weights of the errors in colour and size beside that of the heat maps."""
SHIFT_PX = 8
"""[px] by which a picture is shifted at most along each axis."""
SAVE_EVERY = 200
"""Optimiser steps between two states from which a killed training is resumed."""


@dataclass(frozen=True)
class DetectorTraining:
    """Hyper-parameters."""

    steps: int = 1600
    """Optimiser steps."""
    seed: int = 0
    threads: int = 1


class PictureBatches:
    """Draws batches of pictures with the targets of the network's maps.

    Each batch depends on seed and step alone, so a resumed run sees what an unbroken one would have seen.
    """

    def __init__(self, path: Path, recipe: DetectorRecipe, seed: int) -> None:
        """Read the pictures.

        Raises:
            ContractError: they are of another size than the recipe's.
        """
        with np.load(path, allow_pickle=False) as stored:
            self.images, self.things = stored["images"], stored["things"]
        if self.images.shape[1] != recipe.image_size:
            raise ContractError(
                f"{path}: pictures of {self.images.shape[1]} px, the recipe says {recipe.image_size}; remove the file"
            )
        self._labels, self._side = len(recipe.labels), recipe.image_size // STRIDE
        self._of = [self.things[self.things[:, 0] == index] for index in range(len(self.images))]
        self._seed = seed

    def draw(self, step: int) -> tuple[Tensor, Tensor, Tensor]:
        """Return the batch of a step.

        Returns:
            Pixels (B, 3, S, S) uint8; heat maps (B, L, h, w), 0..1, nan where nothing is asked; and the M things in
            these pictures (M, 7): number of the picture in the batch, label, row and column of the cell, colour, half
            width and half height [cells].
        """
        rng = np.random.default_rng([self._seed, step])
        chosen = rng.integers(0, len(self.images), BATCH)
        heat = np.zeros((BATCH, self._labels, self._side, self._side), np.float32)
        pixels, cells = [], []
        for number, index in enumerate(chosen):
            right, down = rng.integers(-SHIFT_PX, SHIFT_PX + 1, 2)
            pixels.append(_varied(_shifted(self.images[index], int(right), int(down)), rng))
            for thing in self._of[index]:
                cell = self._mark(heat[number], thing, float(right), float(down))
                if cell is not None:
                    cells.append((number, *cell))
        batch = torch.from_numpy(np.stack(pixels)).permute(0, 3, 1, 2)
        return batch, torch.from_numpy(heat), torch.tensor(cells, dtype=torch.float32).reshape(-1, 7)

    def _mark(
        self, heat: NDArray[np.float32], thing: NDArray[np.float32], right: float, down: float
    ) -> tuple[float, ...] | None:
        """Write the target of a thing into the heat maps (L, h, w).

        Returns:
            Its label, row, column, colour, half width and half height [cells]; None where it is outside of the picture
            or too small, in which case the cells around it have no target.
        """
        _, label, u, v, half_width, half_height, pixels, colour, _ = (float(value) for value in thing)
        across, along = (u + right) / STRIDE, (v + down) / STRIDE
        column, row = math.floor(across), math.floor(along)
        if not (0 <= column < self._side and 0 <= row < self._side):
            return None
        rows, columns = np.mgrid[0 : self._side, 0 : self._side] + 0.5
        far = (columns - across) ** 2 + (rows - along) ** 2
        level = heat[int(label)]
        if pixels < LEAST_PIXELS:
            level[far <= 9.0] = np.nan
            return None
        np.maximum(level, np.exp(-far / (2 * SIGMA_CELLS**2)), out=level)
        return label, row, column, colour, half_width / STRIDE, half_height / STRIDE


def train(
    pictures: Path,
    recipe: DetectorRecipe,
    out: Path,
    config: DetectorTraining = DetectorTraining(),
    warm_start: Path | None = None,
    progress: Callable[[int, float], None] = lambda step, loss: None,
) -> None:
    """Train a detector and write its checkpoint; a killed training in `out` is resumed.

    Args:
        pictures: file that `pictures.draw_all` wrote.
        recipe: that the pictures were made by.
        out: folder of the checkpoint.
        config: hyper-parameters.
        warm_start: folder of a checkpoint with the same labels to begin with, at a third of the learning rate.
        progress: called after each step with its number and its loss.

    Raises:
        ContractError: `out` holds a run of other pictures, recipe or configuration.
    """
    torch.set_num_threads(config.threads)
    begun_at = commit() or "unknown"
    torch.manual_seed(config.seed)
    batches = PictureBatches(pictures, recipe, config.seed)
    shape = _shape(recipe, batches.things)
    network = _initial_network(shape, warm_start)
    optimiser = torch.optim.AdamW(network.parameters(), lr=LEARNING_RATE, weight_decay=DECAY)
    digest = hashlib.sha256(pictures.read_bytes()).hexdigest()
    from_sha256 = sha256_of(warm_start / WEIGHTS) if warm_start is not None else ""
    run = identity(config.seed, config.steps, shape, recipe.model_dump_json(), digest, from_sha256)
    state = out / "run" / "state.safetensors"
    first = restore_run(state, network, optimiser, run)
    network.train()
    for step in range(first + 1, config.steps + 1):
        for group in optimiser.param_groups:
            group["lr"] = _rate(step, config.steps) / (3 if warm_start is not None else 1)
        loss = _loss(network, *batches.draw(step))
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(network.parameters(), 5.0)
        optimiser.step()
        progress(step, loss.item())
        if step % SAVE_EVERY == 0:
            save_run(state, network, optimiser, step, run)
    seen = recipe.train_init_ids
    made_of = {
        "recipe_sha256": hashlib.sha256(recipe.model_dump_json().encode()).hexdigest(),
        "pictures_sha256": digest,
        "pictures": str(len(batches.images)),
        "train_init_ids": f"{seen.first}-{seen.first + seen.count - 1}",
        "steps": str(config.steps),
        "seed": str(config.seed),
        "commit": begun_at,
    }
    if warm_start is not None:
        made_of |= origin_of_start(warm_start)
    save_network(network, shape, out, made_of)
    state.unlink(missing_ok=True)


def _shape(recipe: DetectorRecipe, things: NDArray[np.float32]) -> MiniDetectorConfig:
    """Return the configuration of the network; `things` (m, 9) as `pictures.draw_all` writes them."""
    return MiniDetectorConfig(
        labels=recipe.labels,
        colours=COLOURS,
        synonyms={label: list(words) for label, words in recipe.synonyms.items()},
        inward_m=_inward(things, recipe)
        | {label: marker.inward_m for label, marker in recipe.markers.items()},
        markers={label: list(marker.colours) for label, marker in recipe.markers.items()},
        image_size=recipe.image_size,
    )


def _initial_network(shape: MiniDetectorConfig, warm_start: Path | None) -> MiniDetectorNetwork:
    """Return a new network, or one with the weights of a checkpoint of the same labels."""
    network = MiniDetectorNetwork(shape)
    if warm_start is not None:
        former = load_network(warm_start, lambda **fields: MiniDetectorNetwork(MiniDetectorConfig(**fields)))
        same_form(former.config.labels, shape.labels)
        network.load_state_dict(former.state_dict())
    channels_last: MiniDetectorNetwork = network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return channels_last


def _loss(network: MiniDetectorNetwork, pixels: Tensor, heat: Tensor, things: Tensor) -> Tensor:
    """Return the quality focal loss of the heat maps, plus the errors in colour and size in the cells of things.

    The arguments behind the network are those that `PictureBatches.draw` returns.
    """
    said, colour, size = network(pixels.contiguous(memory_format=torch.channels_last))
    asked = ~torch.isnan(heat)
    wanted = torch.nan_to_num(heat)
    surprise = wanted * logsigmoid(said) + (1 - wanted) * logsigmoid(-said)
    missed = (wanted - torch.sigmoid(said)) ** 2
    total: Tensor = -(surprise * missed * asked).sum() / max(1, len(things))
    if len(things):
        number, _, row, column, name = things[:, :5].long().T
        total = total + COLOUR_WEIGHT * cross_entropy(colour[number, :, row, column], name)
        total = total + SIZE_WEIGHT * l1_loss(size[number, :, row, column], things[:, 5:7])
    return total


def _inward(things: NDArray[np.float32], recipe: DetectorRecipe) -> dict[str, float]:
    """Return for each label the median distance [m] from a thing's surface to its position, along the ray."""
    whole = things[things[:, 6] >= LEAST_PIXELS]
    return {
        label: round(float(np.median(whole[whole[:, 1] == index, 8])), 4)
        for index, label in enumerate(recipe.labels)
        if (whole[:, 1] == index).any()
    }


def _rate(step: int, steps: int) -> float:
    """Return the learning rate of a step: linear warm-up over the first 5 % of the steps, then half a cosine."""
    rise = max(1, steps // 20)
    fall = 0.5 * (1 + math.cos(math.pi * max(0, step - rise) / max(1, steps - rise)))
    return LEARNING_RATE * min(1.0, step / rise) * max(fall, 0.02)


def _shifted(image: NDArray[np.uint8], right: int, down: int) -> NDArray[np.uint8]:
    padded = np.pad(image, ((SHIFT_PX, SHIFT_PX), (SHIFT_PX, SHIFT_PX), (0, 0)), mode="edge")
    side = image.shape[0]
    top, left = SHIFT_PX - down, SHIFT_PX - right
    moved: NDArray[np.uint8] = padded[top : top + side, left : left + side]
    return moved


def _varied(image: NDArray[np.uint8], rng: np.random.Generator) -> NDArray[np.uint8]:
    """Return a picture (H, W, 3) with other brightness, contrast and gains of the channels, and with noise."""
    gains = rng.uniform(0.75, 1.25) * rng.uniform(0.93, 1.07, 3)
    noise = rng.normal(0.0, rng.uniform(0.0, 6.0), image.shape)
    varied = (image.astype(np.float32) - 128.0) * gains + 128.0 + rng.uniform(-20.0, 20.0) + noise
    return np.clip(varied, 0, 255).astype(np.uint8)
