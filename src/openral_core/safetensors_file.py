"""A look at a weights file without loading it: is it safetensors, and whole?

The format (https://github.com/huggingface/safetensors#format): 8 bytes little-endian length N of the header,
N bytes of JSON that give each tensor its range of bytes, then the bytes. Unlike a pickle, it cannot run.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

SUFFIX = ".safetensors"
_MAX_HEADER = 100 * 1024 * 1024
_LENGTH_BYTES = 8


def weights_fault(path: Path) -> str | None:
    """Return what is wrong with a weights file, or None."""
    if path.suffix != SUFFIX:
        return f"{path.name} is not safetensors"
    if not os.path.isfile(path):
        return f"{path.name} is not there"
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            header_size = int.from_bytes(file.read(_LENGTH_BYTES), "little")
            if not 2 <= header_size <= min(_MAX_HEADER, size - _LENGTH_BYTES):
                return f"{path.name} is not safetensors, or cut short"
            raw = file.read(header_size)
    except OSError as error:
        return f"{path.name} cannot be read: {error.strerror}"
    try:
        header = json.loads(raw)
        ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
        end = max(ends, default=0)
        missing = _LENGTH_BYTES + header_size + end - size
    except (ValueError, RecursionError, AttributeError, KeyError, IndexError, TypeError):
        return f"{path.name} has a broken safetensors header"
    return f"{path.name} lacks {missing} bytes at its end" if missing > 0 else None
