"""Training that begins with a checkpoint: one of further cameras, and a share of its weights in the result."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

from openral_core.errors import ContractError, PolicyError
from openral_policy_nodes.families.mini.network import MiniConfig, MiniNetwork
from openral_rskill.mini.checkpoint import save_network
from openral_training import bc
from openral_training.checkpoint import identity
from openral_training.cloning.camera_subset import with_cameras
from openral_training.cloning.data import Demonstrations
from openral_training.commands import app
from openral_training.planner.train import PlannerConfig
from openral_training.world_model.learning import LearnConfig

TWO = MiniConfig(cameras=("corner", "wrist"), image_size=32, chunk_size=4, landmarks=6)


def _ignoring(camera: int) -> MiniNetwork:
    """Return a network of two cameras whose landmarks and head take nothing of one of them."""
    torch.manual_seed(0)
    network = MiniNetwork(TWO)
    width = network.trunks[0].out_features  # type: ignore[union-attr]
    for layer in (network.landmarks[0], network.head[0]):  # type: ignore[index]
        with torch.no_grad():
            layer.weight[:, camera * width : (camera + 1) * width] = 0  # type: ignore[union-attr, index]
    return network


@pytest.mark.parametrize("ignored", [0, 1])
def test_what_is_left_acts_as_before_where_the_other_camera_did_not_matter(ignored: int) -> None:
    network, kept = _ignoring(ignored), 1 - ignored
    images = torch.randint(0, 256, (5, 2, 3, 32, 32), dtype=torch.uint8)
    state, words = torch.randn(5, 4), torch.randn(5, 384)
    smaller = with_cameras(network, [TWO.cameras[kept]])

    before, after = network(images, state, words), smaller(images[:, [kept]], state, words)

    assert smaller.config == replace(TWO, cameras=(TWO.cameras[kept],))
    assert torch.allclose(before.chunks, after.chunks, atol=1e-6)
    assert torch.allclose(before.landmarks, after.landmarks, atol=1e-6)


def test_training_begins_with_a_checkpoint_of_more_cameras_and_not_with_one_of_fewer(tmp_path: Path) -> None:
    one = replace(TWO, cameras=("corner",), proposals=2)
    save_network(MiniNetwork(TWO), TWO, tmp_path / "two", {})
    save_network(MiniNetwork(one), one, tmp_path / "one", {})
    nothing: Demonstrations = None  # type: ignore[assignment]  # a warm start has its own statistics

    assert bc.prepare(nothing, one, tmp_path / "two").config == one
    with pytest.raises(PolicyError, match="another form"):
        bc.prepare(nothing, replace(TWO, proposals=2), tmp_path / "one")


def test_a_share_of_the_checkpoint_can_be_kept() -> None:
    torch.manual_seed(0)
    trained, start = MiniNetwork(TWO), MiniNetwork(TWO).state_dict()
    before = {name: tensor.clone() for name, tensor in trained.state_dict().items()}

    bc.keep_share(trained, start, 0.25)

    for name, tensor in trained.state_dict().items():
        assert torch.allclose(tensor, 0.75 * before[name] + 0.25 * start[name], atol=1e-6), name


@pytest.mark.parametrize("config", [bc.BcConfig(), PlannerConfig(), LearnConfig()])
def test_a_run_is_the_same_one_on_more_threads_and_saved_more_often(config: bc.BcConfig) -> None:
    assert identity(replace(config, threads=7, save_every=3)) == identity(config)
    assert identity(replace(config, seed=1)) != identity(config)


def test_a_run_that_begins_with_the_same_weights_elsewhere_is_the_same_one(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for path in (here, there):
        path.write_bytes(b"weights")
    assert identity(here) == identity(there)
    there.write_bytes(b"others")
    assert identity(here) != identity(there)
    assert identity(None) != identity(here)


def test_to_keep_a_share_of_nothing_is_refused(tmp_path: Path) -> None:
    nothing: Any = None
    with pytest.raises(ContractError, match=r"keep 0\.2: there is nothing to keep a share of"):
        bc.train(nothing, nothing, tmp_path / "out", bc.BcConfig(keep=0.2))
    words = ["bc", "--dataset", "other", "--keep", "0.2", "--out", str(tmp_path / "out")]
    refused = CliRunner().invoke(app, words)

    assert "name a checkpoint with --warm-start" in str(refused.exception)
    assert not (tmp_path / "out").exists()
