from __future__ import annotations

import torch
from torch import nn

from openral_rskill.nf4.packable_weights import packable
from openral_rskill.nf4.rule import linears_to_pack


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(96, 64)
        self.trunk = nn.Sequential(nn.Linear(64, 128), nn.LayerNorm(128), nn.Linear(128, 32))
        self.lm_head = nn.Linear(64, 96, bias=False)
        self.lm_head.weight = self.embedding.weight
        self.action_head = nn.Linear(64, 128)


def test_packs_large_matrices_of_linear_layers_only() -> None:
    # Not the embedding, though it is as large; not the head, whose weight is the embedding's.
    assert linears_to_pack(Model(), 4096) == ["trunk.0", "trunk.2", "action_head"]
    assert linears_to_pack(Model(), 4097) == ["trunk.0", "action_head"]
    assert linears_to_pack(Model()) == []


def test_a_name_can_be_left_out() -> None:
    assert linears_to_pack(Model(), 4096, lambda name: not name.startswith("action_head")) == [
        "trunk.0",
        "trunk.2",
    ]


def test_the_meta_device_is_enough() -> None:
    with torch.device("meta"):
        assert linears_to_pack(Model(), 4096) == ["trunk.0", "trunk.2", "action_head"]


def test_only_whole_blocks_are_packable() -> None:
    assert packable((4304, 1152), 4_000_000)  # rows that are no whole blocks, as in SigLIP, but the matrix is
    assert packable((1152, 4304), 4_000_000)
    assert not packable((1, 100), 1)
    assert not packable((4_000_000,), 1)
    assert not packable((1024, 1024))
