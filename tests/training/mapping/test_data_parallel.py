"""Cloning by several processes of torchrun, over gloo: the gradients and losses of one process with the whole batch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import data_parallel_proof as proof
import pytest
import torch
from plain_dataset import RECIPE, write_dataset
from safetensors.torch import load_file

from openral_core.errors import ContractError
from openral_training.data_parallel import TrainingProcess

TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")


@pytest.mark.slow
def test_two_processes_have_the_gradient_of_one_with_the_whole_batch(tmp_path: Path) -> None:
    dataset, recipe = write_dataset(tmp_path / "dataset"), tmp_path / "cubes.yaml"
    recipe.write_text(RECIPE)
    one, two = tmp_path / "one", tmp_path / "two"
    # They are the first to need the pictures, which one of the two decodes.
    done = subprocess.run(
        [sys.executable, *TORCHRUN, str(Path(proof.__file__)), str(dataset), str(recipe), str(two)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    proof.main(dataset, str(recipe), one)
    expected, found = (load_file(folder / "gradients.safetensors") for folder in (one, two))
    assert found.keys() == expected.keys()
    assert len(found) > 20
    for step in "01":
        wanted = torch.cat([value.flatten() for name, value in expected.items() if name[0] == step])
        made = torch.cat([value.flatten() for name, value in found.items() if name[0] == step])
        assert wanted.norm() > 0
        assert (made - wanted).norm() < 1e-2 * wanted.norm()  # products are in bf16
    losses = [json.loads((folder / "losses.json").read_text()) for folder in (one, two)]
    assert losses[1] == pytest.approx(losses[0], rel=1e-3)
    assert (two / "rskill.yaml").is_file()
    assert not (two / "run.safetensors").exists()


def test_shares_are_the_whole_batch_once() -> None:
    rows = list(range(7))
    shares = [rows[TrainingProcess("cpu", rank, 3).share(7)] for rank in range(3)]
    assert [row for share in shares for row in share] == rows
    assert {len(share) for share in shares} == {2, 3}
    with pytest.raises(
        ContractError, match="a batch of 2 rows is too small for 3 processes; start at most 2"
    ):
        TrainingProcess("cpu", 0, 3).share(2)
