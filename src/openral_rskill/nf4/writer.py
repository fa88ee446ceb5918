"""A safetensors file written tensor by tensor, so that no more than one is in memory.

Format (https://github.com/huggingface/safetensors, "Format"): 8 bytes little-endian length of the header, the header as
JSON padded with spaces, the data. The header's place is reserved first and filled in last, because the sizes of packed
statistics are known only when they have been computed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

import torch
from torch import Tensor

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


class SafetensorsWriter:
    """Use as a context manager; the file appears under its name only when everything was written."""

    def __init__(self, path: Path, names: list[str], metadata: Mapping[str, str]) -> None:
        """Reserve the header.

        Args:
            path: the file; one that is there is replaced at the end.
            names: every tensor that may be added.
            metadata: goes into the header.
        """
        self._path = path
        self._partial = path.with_name(path.name + ".partial")
        self._header: dict[str, object] = {"__metadata__": {"format": "pt", **metadata}}
        room = len(json.dumps(self._header)) + sum(len(json.dumps(name)) + _ENTRY for name in names)
        self._room = -(-room // 8) * 8
        self._file = self._partial.open("wb")
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

    def __enter__(self) -> SafetensorsWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._file as file:
            if kind is None:
                header = json.dumps(self._header, separators=(",", ":")).encode()
                assert len(header) <= self._room, "every name was announced"
                file.seek(0)
                file.write(self._room.to_bytes(8, "little") + header.ljust(self._room))
        if kind is None:
            os.replace(self._partial, self._path)
        else:
            self._partial.unlink()
