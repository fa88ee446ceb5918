"""Writes a safetensors file tensor by tensor, so that only one tensor is in memory.

Format (https://github.com/huggingface/safetensors, "Format"): 8 bytes little-endian length of the header, the header as
JSON padded with spaces, the data. The header's place is reserved first and filled in last, because the sizes of packed
statistics are known only when they have been computed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import torch
from torch import Tensor

from openral_core.files.atomic import replaced_file

_NAMES = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}
_ENTRY = 160
"""[bytes] room for one tensor's dtype, shape and offsets in the header, besides its name."""


@contextmanager
def safetensors_writer(
    path: Path, names: list[str], metadata: Mapping[str, str]
) -> Iterator[SafetensorsWriter]:
    """Yield a writer; the file appears under its name only when the block ends without an error.

    Args:
        path: the file; one that is there is replaced at the end.
        names: every tensor that may be added.
        metadata: goes into the header.
    """
    with replaced_file(path) as partial, partial.open("wb") as file:
        writer = SafetensorsWriter(file, names, metadata)
        yield writer
        writer.write_header()


class SafetensorsWriter:
    """Writes tensors one after the other into a file that is open; see `safetensors_writer`."""

    def __init__(self, file: BinaryIO, names: list[str], metadata: Mapping[str, str]) -> None:
        """Reserve the header."""
        self._header: dict[str, object] = {"__metadata__": {"format": "pt", **metadata}}
        room = len(json.dumps(self._header)) + sum(len(json.dumps(name)) + _ENTRY for name in names)
        self._room = -(-room // 8) * 8
        self._file = file
        self._file.write(bytes(8 + self._room))
        self._offset = 0

    def add(self, name: str, tensor: Tensor) -> None:
        """Write one tensor. Readers map the data, so add those with the widest elements first."""
        data = tensor.detach().cpu().contiguous()
        if data.dtype not in _NAMES:
            raise ValueError(f"{name}: dtype {data.dtype} is none that safetensors and this writer know")
        begin, size = self._offset, data.numel() * data.element_size()
        self._file.write(data.reshape(-1).view(torch.uint8).numpy().data)
        self._offset += size
        self._header[name] = {
            "dtype": _NAMES[data.dtype],
            "shape": list(data.shape),
            "data_offsets": [begin, begin + size],
        }

    def write_header(self) -> None:
        """Write the header; call it once, after the last tensor."""
        header = json.dumps(self._header, separators=(",", ":")).encode()
        assert len(header) <= self._room, "every name was announced"
        self._file.seek(0)
        self._file.write(self._room.to_bytes(8, "little") + header.ljust(self._room))
