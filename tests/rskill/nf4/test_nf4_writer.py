from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file

from openral_rskill.safetensors_writer import safetensors_writer

TENSORS = {
    "wide": torch.arange(6, dtype=torch.float32).reshape(2, 3),
    "half": torch.arange(5, dtype=torch.bfloat16),
    "bytes": torch.arange(7, dtype=torch.uint8),
    "number": torch.tensor(3.5),
    "strided": torch.arange(12, dtype=torch.int64).reshape(3, 4).T,
    "nothing": torch.zeros(0, 4),
}


def test_what_is_written_is_what_safetensors_reads(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    with safetensors_writer(path, list(TENSORS), {"nf4_modules": '["a"]'}) as writer:
        for name in sorted(TENSORS, key=lambda name: -TENSORS[name].element_size()):
            writer.add(name, TENSORS[name])
    read = load_file(path)
    assert set(read) == set(TENSORS)
    for name, value in TENSORS.items():
        assert read[name].dtype == value.dtype
        assert torch.equal(read[name], value)
    with safe_open(path, framework="pt") as file:
        assert file.metadata() == {"format": "pt", "nf4_modules": '["a"]'}


def add(path: Path, tensor: torch.Tensor) -> None:
    with safetensors_writer(path, ["good", "odd"], {}) as writer:
        writer.add("good", torch.zeros(3))
        writer.add("odd", tensor)


def test_a_failure_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"before")
    with pytest.raises(ValueError, match=r"odd: dtype torch\.complex64 is none that safetensors"):
        add(path, torch.zeros(3, dtype=torch.complex64))
    assert path.read_bytes() == b"before"
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
