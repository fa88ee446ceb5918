"""A world that fits on a stamp: a dot that goes where it is pushed, recorded as rollouts of a policy."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from openral_data.dataset_schema import DatasetMetadata
from openral_data.episode import Episode, encode_png
from openral_data.lerobot_v3 import Dataset, DatasetWriter, open_dataset

SIZE, PUSH, EDGE = 32, 0.08, 0.5
RIGHT, LEFT = "right", "left"
WORDS = {RIGHT: "push the dot to the right", LEFT: "push the dot to the left"}
CAMERA = "observation.images.camera1"


def image(place: np.ndarray) -> np.ndarray:
    """Return the world (SIZE, SIZE, 3) with the dot at (x, y) in -1..1."""
    seen = np.full((SIZE, SIZE, 3), 40, np.uint8)
    column, row = ((np.clip(place, -0.9, 0.9) + 1) / 2 * SIZE).astype(int)
    seen[row - 2 : row + 3, column - 2 : column + 3] = (250, 200, 60)
    return seen


def episode(task: str, init_id: int, steps: int, rng: np.random.Generator) -> Episode:
    """Return an attempt that drifts towards its side, T = steps + 1 frames."""
    place = np.random.default_rng(init_id).uniform(-0.2, 0.2, 2)
    drift = 0.7 if task == RIGHT else -0.7
    places, actions = [place], []
    for _ in range(steps):
        push = np.clip(rng.normal([drift, 0.0, 0.0, 0.0], [0.5, 0.5, 0.5, 0.0]), -1, 1)
        actions.append(push)
        places.append(np.clip(places[-1] + PUSH * push[:2], -0.9, 0.9))
    actions.append(np.zeros(4))
    where = np.stack(places)
    state = np.concatenate([where, np.zeros_like(where)], 1).astype(np.float32)
    count, ahead = len(where), np.ones(len(where), np.int64)
    ahead[-1] = 0
    unknown = np.full((count, 2), np.nan, np.float32)
    success = np.stack([where[:, 0] > EDGE, where[:, 0] < -EDGE], 1)
    return Episode(
        task,
        "policy",
        init_id,
        0,
        {CAMERA: [encode_png(image(p)) for p in where]},
        state,
        np.stack(actions).astype(np.float32)[:, None],
        ahead,
        success,
        unknown,
        unknown,
        np.full((count, 6), np.nan, np.float32),
    )


def dot_rollouts(folder: Path, *, episodes: int = 40, steps: int = 20, first: int = 0) -> Dataset:
    """Write rollouts of both tasks from ten initial states, the first of which has the number `first`."""
    form = DatasetMetadata(10, {CAMERA: (SIZE, SIZE)}, "ee_pos3_gripper1", 4, 1, WORDS, "dot")
    writer, rng = DatasetWriter(folder, form), np.random.default_rng(0)
    for number in range(episodes):
        writer.add(episode((RIGHT, LEFT)[number % 2], first + number // 2 % 10, steps, rng))
    writer.close()
    return open_dataset(folder)
