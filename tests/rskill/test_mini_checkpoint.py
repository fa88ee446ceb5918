"""Checkpoints of `mini` networks whose files contradict each other."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from torch import nn

from openral_core.errors import PolicyError
from openral_rskill.mini import CONFIG
from openral_rskill.mini.checkpoint import load_network, save_network


@dataclass(frozen=True)
class LayerConfig:
    width: int = 4


@pytest.mark.parametrize(
    ("width", "why"),
    [(1 << 40, r"weight is \(4, 2\) in model.safetensors, \(1099511627776, 2\) by config.json"), (4, "")],
)
def test_a_network_is_built_only_where_its_weights_fit(tmp_path: Path, width: int, why: str) -> None:
    """By config.json alone a stranger's checkpoint could take all memory."""
    saved = nn.Linear(2, 4, bias=False)
    save_network(saved, LayerConfig(), tmp_path, {})
    (tmp_path / CONFIG).write_text(json.dumps({"family": "mini", "width": width}))
    devices = []

    def make(width: int) -> nn.Linear:
        devices.append(torch.empty(0).device.type)
        return nn.Linear(2, width, bias=False)

    if not why:
        torch.manual_seed(0)
        assert load_network(tmp_path, make).weight.shape == (4, 2)
        drawn = torch.rand(1)
        torch.manual_seed(0)
        nn.Linear(2, 4, bias=False)
        assert torch.equal(drawn, torch.rand(1)), "the check draws no random numbers"
        return
    with pytest.raises(PolicyError, match=why):
        load_network(tmp_path, make)
    assert devices == ["meta"]


def test_no_more_layers_are_built_than_the_weights_have(tmp_path: Path) -> None:
    save_network(nn.ModuleList([nn.Linear(2, 4, bias=False)]), LayerConfig(), tmp_path, {})
    (tmp_path / CONFIG).write_text(json.dumps({"family": "mini", "layers": 10_000}))
    built = []

    def make(layers: int) -> nn.ModuleList:
        for _ in range(layers):
            built.append(nn.Linear(2, 4, bias=False))
        return nn.ModuleList(built)

    with pytest.raises(PolicyError, match="describes more tensors than"):
        load_network(tmp_path, make)
    assert len(built) < 1000
    nn.Linear(2, 4)  # may be built again
