"""Checks without loading it that a weights file is complete safetensors and agrees with its own header.

The format (https://github.com/huggingface/safetensors#format): 8 bytes little-endian length N of the header,
N bytes of JSON that give each tensor its type, its shape and its range of bytes, then the bytes, each of which belongs
to one tensor. Unlike a pickle, it cannot run. Standard library only; reads the header and nothing else.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openral_core.errors import WeightsError

SUFFIX = ".safetensors"
_MAX_HEADER = 16 * 1024 * 1024
"""[byte] a hundred thousand tensors; parsed, it takes ten times as much."""
_MAX_COMMAS = 1_000_000
"""Bounds the number of objects that parsing a header makes."""
_LENGTH_BYTES = 8
_BITS = {
    "BOOL": 8,
    "U8": 8,
    "I8": 8,
    "F8_E4M3": 8,
    "F8_E5M2": 8,
    "F8_E8M0": 8,
    "F8_E4M3FNUZ": 8,
    "F8_E5M2FNUZ": 8,
    "U16": 16,
    "I16": 16,
    "F16": 16,
    "BF16": 16,
    "U32": 32,
    "I32": 32,
    "F32": 32,
    "U64": 64,
    "I64": 64,
    "F64": 64,
    "C64": 64,
    "F4": 4,
    "F6_E2M3": 6,
    "F6_E3M2": 6,
}


@dataclass(frozen=True)
class TensorShape:
    """Shape and size of one tensor in a header."""

    shape: tuple[int, ...]
    size: int
    """[byte]"""


def tensor_shapes(path: Path) -> dict[str, TensorShape]:
    """Return the tensors of a weights file by name, from its header alone.

    Raises:
        WeightsError: the file is broken.
    """
    fault = weights_fault(path)
    if fault:
        raise WeightsError(f"{path.parent}: {fault}; fetch the file again")
    with path.open("rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(_LENGTH_BYTES), "little")))
    header.pop("__metadata__", None)
    return {
        name: TensorShape(tuple(entry["shape"]), entry["data_offsets"][1] - entry["data_offsets"][0])
        for name, entry in header.items()
    }


def weights_fault(path: Path) -> str | None:
    """Return what is wrong with a weights file, or None."""
    if path.suffix != SUFFIX:
        return f"{path.name} is not safetensors"
    if not os.path.isfile(path):
        return f"{path.name} is no file" if os.path.exists(path) else f"{path.name} is not there"
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            header_size = int.from_bytes(file.read(_LENGTH_BYTES), "little")
            if not 2 <= header_size <= size - _LENGTH_BYTES:
                return f"{path.name} is not safetensors, or cut short"
            if header_size > _MAX_HEADER:
                return f"{path.name} has a safetensors header of {header_size} bytes, more than {_MAX_HEADER}"
            raw = file.read(header_size)
    except OSError as error:
        return f"{path.name} cannot be read: {error.strerror}"
    fault = _header_fault(raw, size - _LENGTH_BYTES - header_size)
    return f"{path.name} {fault}" if fault else None


def _header_fault(raw: bytes, available: int) -> str | None:
    """Return the fault of a header that is followed by `available` bytes of tensors, or None."""
    broken = "has a broken safetensors header"
    if raw.count(b",") > _MAX_COMMAS:
        return broken
    try:
        header = json.loads(raw, object_pairs_hook=_without_repeats)
        header.pop("__metadata__", None)
        spans = sorted((*_span(entry), name) for name, entry in header.items())
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError):
        return broken
    position = 0
    for begin, end, needed, name in spans:
        if end - begin != needed:
            shape = str(header[name]["shape"])[:60]
            return f"lies: tensor {name[:80]!r} of shape {shape} has {end - begin} bytes, not {needed}"
        if begin != position:
            return f"lies: tensor {name[:80]!r} begins at byte {begin}, the one before it ends at {position}"
        position = end
    if position > available:
        return f"lacks {position - available} bytes at its end"
    return f"has {available - position} bytes that belong to no tensor" if position < available else None


def _span(entry: dict[str, Any]) -> tuple[int, int, int]:
    """Return a tensor's first byte, the one after its last, and how many its type and shape need."""
    shape, (begin, end) = entry["shape"], entry["data_offsets"]
    if type(shape) is not list or not all(type(n) is int and 0 <= n < 2**63 for n in (*shape, begin, end)):
        raise ValueError("numbers of a tensor")
    if len(shape) > 64:  # more than any framework has; bounds the product
        raise ValueError("dimensions of a tensor")
    return begin, end, -(-math.prod(shape) * _BITS[entry["dtype"]] // 8)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands there twice")
    return found
