"""Which files make a checkpoint: safetensors and the text around them. A pickle can run code when it is opened.

Python's `pickle` and what is built on it (`torch.save`, joblib) execute what the file says while reading it
(https://docs.python.org/3/library/pickle.html). openral opens none of them; `openral rskill convert` turns one into
safetensors, in a process of its own and with PyTorch's reader for plain tensors.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from openral_core.errors import WeightsError
from openral_rskill.safetensors_check import SUFFIX, weights_fault

PICKLE_SUFFIXES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".joblib")
TEXT_SUFFIXES = (".json", ".jsonl", ".jinja", ".model", ".tiktoken", ".txt", ".yaml", ".yml")
"""Configuration, tokenizers, statistics. No `.py`: code of a checkpoint is never run."""
INDEX_SUFFIX = ".safetensors.index.json"
_LEFT_OUT = ("training_state", "optimizer", "runs", "wandb")
"""Folders that are needed to go on training, not to infer."""
_PICKLE_STARTS = tuple(bytes((0x80, protocol)) for protocol in range(2, 6))
_ZIP_START = b"PK\x03\x04"


def is_pickled(path: Path) -> bool:
    """Whether a file is a pickle, or a zip archive as `torch.save` writes it, by its name or its first bytes."""
    if path.suffix in PICKLE_SUFFIXES:
        return True
    if not os.path.isfile(path):
        return False  # to open a pipe would wait for who writes to it
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except OSError:
        return False
    return start.startswith((*_PICKLE_STARTS, _ZIP_START))


def pickle_refusal(name: str, path: str) -> str:
    """Return the one line that refuses a pickle and names the command that fixes it."""
    target = PurePosixPath(path).with_suffix(SUFFIX)
    return f"{name} is a pickle, which can run code when it is opened; openral rskill convert {path} {target}"


def select(paths: Iterable[str]) -> list[str]:
    """Return the files of a checkpoint that are worth fetching, from all those of a repository.

    Raises:
        WeightsError: the weights are there as pickles only, or not at all.
    """
    names = sorted(paths)
    chosen = [name for name in names if _is_wanted(PurePosixPath(name))]
    if not any(name.endswith(SUFFIX) for name in chosen):
        pickles = [name for name in names if PurePosixPath(name).suffix in PICKLE_SUFFIXES]
        if pickles:
            raise WeightsError(pickle_refusal(pickles[0], pickles[0]))
        raise WeightsError("there is no safetensors file; name a repository with weights")
    return chosen


def checkpoint_faults(folder: Path) -> list[str]:
    """Look at a checkpoint's folder without loading it; one line a fault.

    Every safetensors file must be whole, every shard that an index names must be there, beside it or below, and be
    safetensors by its name, since loaders open what the index says; and there must be at least one safetensors file.
    Pipes and devices are refused, whatever they are called: who reads one may wait forever.
    """
    for path in sorted(folder.rglob("*")):
        if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
            return [f"{path.name} is a pipe or a device; remove it, and fetch the file that belongs there"]
    files = sorted(folder.rglob(f"*{SUFFIX}"))
    faults = [fault for path in files if (fault := _file_fault(path))]
    for index in sorted(folder.rglob(f"*{INDEX_SUFFIX}")):
        try:
            shards = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            faults.append(f"{index.name} is no index of shards; fetch it again")
            continue
        faults += [fault for shard in shards if (fault := _shard_fault(index, str(shard)))]
    if not files:
        pickles = [path for path in sorted(folder.rglob("*")) if path.is_file() and is_pickled(path)]
        if pickles:
            return [pickle_refusal(pickles[0].name, str(pickles[0]))]
        return [f"there is no safetensors file in {folder}; fetch or train the weights"]
    return faults


def _shard_fault(index: Path, shard: str) -> str | None:
    """Return what is wrong with a shard that an index names, or None."""
    place = PurePosixPath(shard)
    if place.is_absolute() or ".." in place.parts:
        return f"{shard}, named by {index.name}, lies outside of its folder; fetch a checkpoint without such names"
    if place.suffix != SUFFIX:
        return (
            f"{shard}, named by {index.name}, is not safetensors; fetch or convert the weights as safetensors"
        )
    if not os.path.isfile(index.parent / place):
        return f"{shard}, named by {index.name}, is not there; fetch it"
    return None


def _file_fault(path: Path) -> str | None:
    fault = weights_fault(path)
    if fault is None:
        return None
    if is_pickled(path):
        return pickle_refusal(path.name, str(path))
    return f"{fault}; fetch it again"


def _is_wanted(path: PurePosixPath) -> bool:
    hidden = any(part.startswith(".") for part in path.parts)
    if hidden or any(part in _LEFT_OUT for part in path.parts[:-1]) or path.name.startswith("optimizer"):
        return False
    return path.suffix == SUFFIX or path.suffix in TEXT_SUFFIXES or path.name.upper().startswith("LICENSE")
