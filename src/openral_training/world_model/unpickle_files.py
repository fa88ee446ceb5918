"""Converts the pickled files of RLinf's OpenSora world models to formats without code.

`dataset/traj<N>.npy` (object arrays, one dictionary per frame) becomes `traj<N>.npz`; `resnet_rm.pth` becomes
`resnet_rm.safetensors`. The original files are kept; no other module of openral reads them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file

from openral_core.errors import ManifestError, NotFoundError
from openral_core.files.atomic import replaced_file
from openral_rskill.weights_writing import replaced_weights
from openral_training.world_model.pickled_arrays import read_object_array
from openral_training.world_model.starts import FOLDER

REWARD = "resnet_rm"


def convert(
    folder: Path, *, numpy_objects: bool, progress: Callable[[Path], None] = lambda path: None
) -> list[Path]:
    """Convert the existing files and return those that were written.

    Args:
        folder: of the world model.
        numpy_objects: whether .npy files of Python objects are read, by the reader of `pickled_arrays`.
        progress: called with each written file.

    Raises:
        NotFoundError: there is nothing to convert.
        ManifestError: a file is of another form, or has objects although `numpy_objects` is False.
    """
    stored = sorted((folder / FOLDER).glob("traj*.npy"))
    if stored and not numpy_objects:
        raise ManifestError(
            f"{stored[0]}: is a pickle of Python objects, which is not read unasked; "
            "add --numpy-objects, which admits arrays, dictionaries, texts and numbers only"
        )
    written = []
    for path in stored:
        written.append(_trajectory(path))
        progress(written[-1])
    reward = folder / f"{REWARD}.pth"
    if reward.is_file():
        written.append(_reward(reward))
        progress(written[-1])
    if not written:
        raise NotFoundError(f"{folder}: neither {FOLDER}/traj*.npy nor {reward.name}; nothing to convert")
    return written


def _trajectory(path: Path) -> Path:
    """Write the frames, actions and instruction of one trajectory, and return the file."""
    frames = list(read_object_array(path).flat)
    if not frames or not all(isinstance(frame, dict) and "image" in frame for frame in frames):
        raise ManifestError(f"{path}: needed a dictionary with 'image' a frame")
    content: dict[str, NDArray[Any]] = {"image": _stacked(path, frames, "image", np.uint8)}
    words = frames[0].get("instruction", frames[0].get("task"))
    if not isinstance(words, str):
        raise ManifestError(f"{path}: its first frame has neither 'instruction' nor 'task'")
    content["instruction"] = np.array(words)
    for name in ("delta_action", "abs_action"):
        if name in frames[0]:
            content[name] = _stacked(path, frames, name, np.float32)
    if "init_ee_pose" in frames[0]:
        content["init_ee_pose"] = _stacked(path, frames[:1], "init_ee_pose", np.float32)[0]
    target = path.with_suffix(".npz")
    with replaced_file(target) as partial, partial.open("wb") as file:
        np.savez(file, allow_pickle=False, **content)
    return target


def _stacked(path: Path, frames: list[dict[str, Any]], name: str, kind: type[Any]) -> NDArray[Any]:
    try:
        return np.stack([np.asarray(frame[name]) for frame in frames]).astype(kind)
    except (KeyError, ValueError, TypeError) as error:
        raise ManifestError(
            f"{path}: {name}: is no array of numbers of one shape in every frame ({error})"
        ) from error


def _reward(path: Path) -> Path:
    """Write the tensors of a reward model, and return the file."""
    try:
        tensors = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises many types, all of which mean that the file cannot be read
        raise ManifestError(f"{path}: not a file of tensors only ({error})") from error
    if not isinstance(tensors, dict) or not all(isinstance(t, torch.Tensor) for t in tensors.values()):
        raise ManifestError(f"{path}: needed one dictionary of tensors")
    target = path.with_suffix(".safetensors")
    with replaced_weights(target) as partial:
        save_file({name: tensor.contiguous().clone() for name, tensor in tensors.items()}, partial)
    return target
