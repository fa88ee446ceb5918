"""State and action vectors composed of features, and action chunks cut out of episodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_data.lerobot_v3 import Dataset
from openral_training.mapping.dataset_recipe import FeatureColumns, SkillRecipe


def width(info: dict[str, Any], part: FeatureColumns) -> int:
    """Return the number of values in a part of a vector."""
    return len(part.columns) if part.columns is not None else int(info["features"][part.feature]["shape"][0])


def vectors(dataset: Dataset, parts: Sequence[FeatureColumns]) -> NDArray[np.float32]:
    """Return vectors (N, D) of the N frames in the manifest's units, concatenated in the order of the parts."""
    found = dataset.columns(dict.fromkeys(part.feature for part in parts))
    blocks = []
    for part in parts:
        rows = found[part.feature].reshape(len(dataset), -1).astype(np.float32)
        chosen = rows if part.columns is None else rows[:, list(part.columns)]
        blocks.append(chosen * np.float32(part.scale) + np.float32(part.offset))
    return np.concatenate(blocks, axis=1)


def spans(dataset: Dataset, leave_out: Sequence[int] = ()) -> list[tuple[int, int, int]]:
    """Return index, first row and last row + 1 of each episode that is not left out."""
    names = ("episode_index", "dataset_from_index", "dataset_to_index")
    rows = zip(*(dataset.episodes[name] for name in names), strict=True)
    return [row for row in rows if row[0] not in leave_out]


def kept_episodes(dataset: Dataset, recipe: SkillRecipe) -> list[tuple[int, int, int]]:
    """Return, in the form of `spans`, the episodes that are not left out and have the outcome of the recipe."""
    kept = spans(dataset, recipe.leave_out)
    if recipe.only_outcome is None:
        return kept
    outcomes = dataset.episodes.get("outcome", [""] * len(dataset.episodes["episode_index"]))
    ended = dict(zip(dataset.episodes["episode_index"], outcomes, strict=True))
    return [row for row in kept if ended[row[0]] == recipe.only_outcome]


def usable_spans(dataset: Dataset, recipe: SkillRecipe) -> list[tuple[int, int, int]]:
    """Return, in the form of `spans`, the stretches of frames that are trained on: any number per episode."""
    usable = np.ones(len(dataset), np.bool_)
    if recipe.only_where:
        usable &= _truth(dataset, recipe.only_where).all(axis=1)
    for _, first, end in spans(dataset) if recipe.seam_frames else ():
        taken_over = first + 1 + np.flatnonzero(usable[first + 1 : end] & ~usable[first : end - 1])
        for row in taken_over:
            usable[row : min(row + recipe.seam_frames, end)] = False
    if recipe.never_where:
        usable &= ~_truth(dataset, recipe.never_where).any(axis=1)
    found = []
    for number, first, end in kept_episodes(dataset, recipe):
        edges = np.flatnonzero(np.diff(np.concatenate([[False], usable[first:end], [False]]).astype(np.int8)))
        found += [(number, first + int(a), first + int(b)) for a, b in edges.reshape(-1, 2)]
    return found


def _truth(dataset: Dataset, feature: str) -> NDArray[Any]:
    """Return a boolean feature as (N, D)."""
    return dataset.columns([feature])[feature].reshape(len(dataset), -1)


def chunks(
    action: NDArray[np.float32], stretches: Sequence[tuple[int, int, int]], size: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return (N, H, A), the actions of each row and of the next ones, and (N,) how many of the H belong to its stretch.

    After the end of a stretch its last action is repeated. Rows outside of stretches are nan, with the number 0.

    Args:
        action: (N, K, A), K consecutive actions in each row.
        stretches: as `usable_spans` returns them.
        size: H, actions of a chunk.
    """
    count, steps, dim = action.shape
    chunk = np.full((count, size, dim), np.nan, np.float32)
    ahead = np.zeros(count, np.int64)
    flat = action.reshape(-1, dim)
    for _, first, end in stretches:
        begins = steps * np.arange(first, end)
        chunk[first:end] = flat[np.minimum(begins[:, None] + np.arange(size), steps * end - 1)]
        ahead[first:end] = np.minimum(steps * end - begins, size)
    return chunk, ahead
