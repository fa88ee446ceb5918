"""Statistics of packed layers that do not fit their weights, by which bitsandbytes would read foreign memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from openral_core.errors import PolicyError
from openral_rskill.nf4.load import STATE, load_checkpoint
from openral_rskill.nf4.statistics_check import statistics_fault

SHAPE = (64, 512)
SCALES = 512
FIELDS: dict[str, Any] = {
    "quant_type": "nf4",
    "blocksize": 64,
    "dtype": "bfloat16",
    "shape": list(SHAPE),
    "nested_blocksize": 256,
    "nested_dtype": "float32",
    "nested_offset": 0.01,
}
KEY = STATE.removeprefix(".weight.")


def described(**changes: Any) -> Tensor:
    return torch.frombuffer(bytearray(json.dumps({**FIELDS, **changes}).encode()), dtype=torch.uint8)


def statistics() -> dict[str, Tensor]:
    """As bitsandbytes 0.48 writes them, of a layer with a scale for 64 weights and one of second level for 256."""
    return {
        "absmax": torch.zeros(SCALES, dtype=torch.uint8),
        "quant_map": torch.zeros(16),
        "nested_absmax": torch.zeros(2),
        "nested_quant_map": torch.zeros(256),
        KEY: described(),
    }


def test_what_bitsandbytes_writes_is_in_order() -> None:
    assert statistics_fault(statistics(), SHAPE) is None
    plain = {key: value for key, value in FIELDS.items() if not key.startswith("nested")}
    once = {
        "absmax": torch.zeros(SCALES),
        "quant_map": torch.zeros(16),
        KEY: torch.frombuffer(bytearray(json.dumps(plain).encode()), dtype=torch.uint8),
    }
    assert statistics_fault(once, SHAPE) is None


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"absmax": torch.zeros(4, dtype=torch.uint8)}, "absmax has 4 values of torch.uint8, needed 512"),
        ({"absmax": torch.zeros(SCALES)}, "absmax has 512 values of torch.float32"),
        ({"nested_absmax": torch.zeros(1)}, "nested_absmax has 1 values of torch.float32, needed 2"),
        ({"quant_map": torch.zeros(2)}, "quant_map has 2 values"),
        ({"nested_quant_map": None}, "nested_quant_map is missing"),
        ({"nested_absmax": None}, "describes another layer"),
        ({KEY: described(blocksize=1)}, "describes another layer"),
        ({KEY: described(blocksize=64.0)}, "describes another layer"),
        ({KEY: described(blocksize=32)}, "absmax has 512 values of torch.uint8, needed 1024"),
        ({KEY: described(shape=[64, 1024])}, "describes another layer"),
        ({KEY: described(quant_type="fp4")}, "describes another layer"),
        ({KEY: described(dtype="load")}, "describes another layer"),
        ({KEY: described(nested_blocksize=1)}, "describes another layer"),
        ({KEY: described(nested_offset="x")}, "cannot be read"),
        ({KEY: described(nested_offset=10**400)}, "cannot be read"),
        ({"quant_state.bitsandbytes__fp4": described()}, "quant_state.bitsandbytes__fp4 is none of"),
        ({KEY: torch.zeros(3, dtype=torch.uint8)}, "cannot be read"),
    ],
)
def test_statistics_of_another_size_are_refused(tmp_path: Path, changes: dict[str, Any], why: str) -> None:
    values = {**statistics(), **changes}
    tensors = {f"layer.weight.{key}": value for key, value in values.items() if value is not None}
    tensors["layer.weight"] = torch.zeros(SHAPE[0] * SHAPE[1] // 2, 1, dtype=torch.uint8)
    save_file(tensors, tmp_path / "model.safetensors")
    skeleton = nn.Sequential()
    skeleton.add_module("layer", nn.Linear(SHAPE[1], SHAPE[0], bias=False, device="meta"))
    with pytest.raises(PolicyError, match=why) as refused:
        load_checkpoint(skeleton, [tmp_path / "model.safetensors"])
    assert "layer.weight: " in str(refused.value)


def test_statistics_without_their_weights_are_refused(tmp_path: Path) -> None:
    tensors = {f"layer.weight.{key}": value for key, value in statistics().items()}
    save_file(tensors, tmp_path / "model.safetensors")
    skeleton = nn.Sequential()
    skeleton.add_module("layer", nn.Linear(SHAPE[1], SHAPE[0], bias=False, device="meta"))
    with pytest.raises(PolicyError, match=r"layer\.weight is missing, of which statistics are there"):
        load_checkpoint(skeleton, [tmp_path / "model.safetensors"])
