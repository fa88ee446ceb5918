"""State and action vectors put together from features, and action chunks cut out of episodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_data.lerobot_v3 import Dataset
from openral_training.mapping.recipe import FeatureColumns


def width(info: dict[str, Any], part: FeatureColumns) -> int:
    """Return how many numbers a part of a vector has."""
    return len(part.columns) if part.columns is not None else int(info["features"][part.feature]["shape"][0])


def vectors(dataset: Dataset, parts: Sequence[FeatureColumns]) -> NDArray[np.float32]:
    """Return (N, D): the numbers of each frame in the manifest's units, in the order of the parts."""
    found = dataset.columns(dict.fromkeys(part.feature for part in parts))
    blocks = []
    for part in parts:
        rows = found[part.feature].reshape(len(dataset), -1).astype(np.float32)
        chosen = rows if part.columns is None else rows[:, list(part.columns)]
        blocks.append(chosen * np.float32(part.scale) + np.float32(part.offset))
    return np.concatenate(blocks, axis=1)


def spans(dataset: Dataset, leave_out: Sequence[int] = ()) -> list[tuple[int, int, int]]:
    """Return number, first row and last row + 1 of each episode that is not left out."""
    names = ("episode_index", "dataset_from_index", "dataset_to_index")
    rows = zip(*(dataset.episodes[name] for name in names), strict=True)
    return [row for row in rows if row[0] not in leave_out]


def chunks(
    action: NDArray[np.float32], episodes: Sequence[tuple[int, int, int]], size: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return (N, H, A), each row's action and the next ones of its episode, and (N,) how many of the H belong to it.

    Behind an episode's end its last action is repeated. Rows of no episode are nan, with none ahead.

    Args:
        action: (N, A)
        episodes: as `spans` returns them.
        size: H
    """
    chunk = np.full((len(action), size, action.shape[1]), np.nan, np.float32)
    ahead = np.zeros(len(action), np.int64)
    for _, first, end in episodes:
        rows = np.arange(first, end)
        chunk[first:end] = action[np.minimum(rows[:, None] + np.arange(size), end - 1)]
        ahead[first:end] = np.minimum(end - rows, size)
    return chunk, ahead
