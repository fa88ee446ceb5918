"""A collected episode in memory, and shards of episodes on disk during a collection."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import cv2
import numpy as np
from numpy.typing import NDArray

from openral_core.errors import DatasetError, SimulationError
from openral_core.files.atomic import replaced_file
from openral_core.image_message import decode_compressed


@dataclass(frozen=True)
class Episode:
    """T steps of one task in one world, with labels for the K tasks of the recipe at every step."""

    task_id: str
    """Id of the attempted simulator task."""
    behaviour: str
    """Source of the actions: expert, noisy_expert, stuck or wander."""
    init_id: int
    """Number of the initial state."""
    leg: int
    """0 after a reset; n if it begins in the final state of leg n - 1."""
    images: dict[str, list[bytes]]
    """T PNG files by camera (feature key)."""
    state: NDArray[np.float32]
    """(T, D) proprioception in the recipe's layout."""
    chunk: NDArray[np.float32]
    """(T, H, A) the expert's actions for this and the next control steps: labels, not the executed actions."""
    ahead: NDArray[np.int64]
    """(T,) number of the H actions that were labelled before the episode's end; the rest repeat the last one."""
    success: NDArray[np.bool_]
    """(T, K) success according to the simulator; false for tasks of other scenes."""
    hand_to_object: NDArray[np.float32]
    """(T, K) [m] distance from the end effector to the task's object; nan for tasks of other scenes."""
    object_to_target: NDArray[np.float32]
    """(T, K) [m] distance from the object to the task's target; nan for tasks of other scenes."""
    landmarks: NDArray[np.float32]
    """(T, 6) [m, world frame] positions of the attempted task's object and target; nan: unknown."""

    def __len__(self) -> int:
        return len(self.state)

    @property
    def action(self) -> NDArray[np.float32]:
        """(T, A) the first action of each chunk."""
        return self.chunk[:, 0]


_ARRAYS = ("state", "chunk", "ahead", "success", "hand_to_object", "object_to_target", "landmarks")


def encode_png(image: NDArray[np.uint8]) -> bytes:
    """Return the lossless PNG file of an (H, W, 3) uint8 RGB image."""
    ok, data = cv2.imencode(".png", image[..., ::-1], [cv2.IMWRITE_PNG_COMPRESSION, 1])
    if not ok:
        raise SimulationError(f"an image of shape {image.shape} could not be encoded as PNG")
    return bytes(data)


def decode_png(data: bytes) -> NDArray[np.uint8]:
    """Return the (H, W, 3) uint8 RGB image of a PNG file. Raises DatasetError: it is none."""
    image = decode_compressed(data)
    if image is None:
        raise DatasetError(f"{len(data)} bytes are not an image")
    return image


def save_shard(path: Path, episodes: list[Episode]) -> None:
    """Write the episodes of one collection unit atomically, so that a killed run leaves complete shards only."""
    content: dict[str, Any] = {"count": len(episodes)}
    for i, episode in enumerate(episodes):
        for name in _ARRAYS:
            content[f"{i}.{name}"] = getattr(episode, name)
        content[f"{i}.words"] = np.array([episode.task_id, episode.behaviour])
        content[f"{i}.numbers"] = np.array([episode.init_id, episode.leg])
        content[f"{i}.cameras"] = np.array(list(episode.images))
        for key, images in episode.images.items():
            content[f"{i}.{key}"] = np.frombuffer(b"".join(images), np.uint8)
            content[f"{i}.{key}.sizes"] = np.array([len(png) for png in images])
    with replaced_file(path) as partial, partial.open("wb") as file:
        np.savez(file, **content)


def load_shard(path: Path) -> list[Episode]:
    """Read the episodes of a shard of `save_shard`. Raises DatasetError: it is damaged, or no shard."""
    try:
        with np.load(path, allow_pickle=False) as content:
            return [_episode(content, i) for i in range(int(content["count"]))]
    except (ValueError, KeyError, EOFError, TypeError, AttributeError, BadZipFile, zlib.error) as error:
        raise DatasetError(
            f"{path}: is damaged ({error}); delete it, and the same command makes it again"
        ) from error


def _episode(content: Any, i: int) -> Episode:
    task_id, behaviour = (str(word) for word in content[f"{i}.words"])
    init_id, leg = (int(number) for number in content[f"{i}.numbers"])
    images = {str(key): _pngs(content, f"{i}.{key}") for key in content[f"{i}.cameras"]}
    return Episode(task_id, behaviour, init_id, leg, images, *(content[f"{i}.{name}"] for name in _ARRAYS))


def _pngs(content: Any, name: str) -> list[bytes]:
    blob, ends = content[name].tobytes(), np.cumsum(content[f"{name}.sizes"])
    return [blob[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)]
