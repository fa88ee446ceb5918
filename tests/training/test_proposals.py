"""A policy that proposes several chunks learns each way that was shown, where one chunk learns what lies between."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from openral_core.errors import PolicyError
from openral_policy_nodes.families.mini.network import MiniConfig, MiniNetwork
from openral_policy_nodes.families.mini.policy import load_mini
from openral_rskill.mini.checkpoint import save_network
from openral_training import bc
from openral_training.cloning.data import Demonstrations
from openral_training.cloning.proposals import SCALE, mixture_error, with_proposals

ROWS = 8
SHAPE = MiniConfig(cameras=("one",), image_size=32, chunk_size=4, action_dim=2)


def _shown(share: float) -> Demonstrations:
    """The same state everywhere; `share` of the rows go to one side, the others to the other."""
    chunk = np.full((ROWS, 4, 2), -0.8, np.float32)
    chunk[: round(share * ROWS)] = 0.8
    rows = np.arange(ROWS)
    zeros = np.zeros((ROWS, 4), np.float32)
    return Demonstrations(rows, zeros, chunk, np.full(ROWS, 4), np.zeros((ROWS, 0), np.float32), rows * 0)


def _seen(rows: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Black pictures, a state of zeros, no words."""
    size = SHAPE.image_size
    images = torch.zeros(rows, 1, 3, size, size, dtype=torch.uint8)
    return images, torch.zeros(rows, 4), torch.zeros(rows, 384)


def _cloned(network: MiniNetwork, share: float, steps: int = 300) -> torch.Tensor:
    """Train on what is shown, and return what is executed then (H, A)."""
    demos, (images, _, words) = _shown(share), _seen(ROWS)
    batch = bc.CloningBatch.of(demos, demos.frames, slice(None), images, words)
    network.requires_grad_(False).head.requires_grad_(True)
    optimiser = torch.optim.AdamW(network.head.parameters(), lr=3e-3)
    for _ in range(steps):
        loss, _ = bc.losses(network, batch)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    with torch.no_grad():
        return network(*_seen(1)).actions[0]


def test_each_way_becomes_a_proposal_and_the_one_shown_more_often_is_gone() -> None:
    torch.manual_seed(1)
    network = MiniNetwork(replace(SHAPE, proposals=2))
    assert torch.allclose(_cloned(network, share=0.25), torch.full((4, 2), -0.8), atol=0.1)
    with torch.no_grad():
        output = network(*_seen(1))
    sides = {
        round(float(chunk.mean()), 1): float(probability)
        for chunk, probability in zip(output.chunks[0], output.logits[0].softmax(0), strict=True)
    }
    assert sides == {0.8: pytest.approx(0.25, abs=0.05), -0.8: pytest.approx(0.75, abs=0.05)}


def test_the_error_of_one_proposal_is_its_mean_absolute_error() -> None:
    errors = torch.rand(8, 1)
    assert torch.allclose(mixture_error(errors, torch.randn(8, 1)), errors[:, 0])


def test_the_error_of_several_is_the_least_one_and_what_it_costs_to_name_it() -> None:
    errors, logits = torch.tensor([[0.1, 2.0]]), torch.tensor([[0.0, 0.0]])
    assert mixture_error(errors, logits).item() == pytest.approx(0.1 + SCALE * np.log(2), abs=1e-6)


def test_steps_behind_the_end_of_an_episode_do_not_count() -> None:
    demos = _shown(share=1.0)
    demos.chunk[:, 2:] = 77.0
    short = replace(demos, ahead=np.full(ROWS, 2))
    network = MiniNetwork(replace(SHAPE, proposals=2))
    images, _, words = _seen(ROWS)
    loss, _ = bc.losses(network, bc.CloningBatch.of(short, short.frames, slice(None), images, words))
    assert loss.item() < 2.0


def test_a_policy_of_one_proposal_is_where_several_begin(tmp_path: Path) -> None:
    torch.manual_seed(2)
    one = MiniNetwork(SHAPE)
    save_network(one, SHAPE, tmp_path, {})
    wider = bc.prepare(_shown(0.5), replace(SHAPE, proposals=4), tmp_path)
    features = torch.randn(16, one.width)
    chunks, logits = wider.proposals(features)
    known, _ = load_mini(tmp_path).proposals(features)
    assert logits.abs().max() == 0
    assert (chunks - known).abs().mean() < 0.1
    assert (chunks[:, 0] - chunks[:, 1]).abs().max() > 0
    with pytest.raises(PolicyError, match="another form"):
        bc.prepare(_shown(0.5), replace(SHAPE, proposals=4, chunk_size=8), tmp_path)


def test_a_policy_of_several_proposals_is_not_cut_down_to_one(tmp_path: Path) -> None:
    save_network(with_proposals(MiniNetwork(SHAPE), 2), replace(SHAPE, proposals=2), tmp_path, {})
    with pytest.raises(PolicyError, match="proposals=2"):
        bc.prepare(_shown(0.5), SHAPE, tmp_path)
