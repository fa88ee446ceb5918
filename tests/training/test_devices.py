"""Which device trains, and that every tensor of a step is there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from openral_cli.app import app
from openral_core.errors import ContractError, InstallationError
from openral_policy_nodes.families.mini.network import MiniConfig, MiniNetwork
from openral_training import bc
from openral_training.cloning.data import Demonstrations
from openral_training.devices import (
    Device,
    backend_for,
    device_name,
    mixed_precision,
    own_device,
    torch_device,
)
from openral_training.rl.algorithm.batch import Batch
from openral_training.rl.algorithm.ppo import Learner
from openral_training.rl.policies.state_mlp import MlpShape, StateMlp
from openral_training.rl.settings.actor import Optim
from openral_training.rl.settings.algorithm import Grpo
from openral_training.rl.workers.learners import LocalLearner

BATCH = 2
WHERE = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])


def test_auto_takes_a_gpu_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert torch_device("auto") == torch_device("cpu") == "cpu"
    for name, said in (("cuda", "cuda"), ("cuda:1", "cuda:1"), (Device.cuda, "cuda")):  # the last by the CLI
        with pytest.raises(
            InstallationError, match=f"--device {said}: .* finds no GPU here; write --device cpu"
        ):
            torch_device(name)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert torch_device("auto") == torch_device("cuda") == "cuda"
    assert torch_device("cpu") == "cpu"


@pytest.mark.parametrize(("capability", "mixed"), [("AVX2", False), ("AVX512", True), ("DEFAULT", False)])
def test_a_processor_multiplies_bfloat16_only_where_it_is_fast_at_it(
    monkeypatch: pytest.MonkeyPatch, capability: str, mixed: bool
) -> None:
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    numbers = torch.ones(2, 2)
    with mixed_precision("cpu"):
        assert (numbers @ numbers).dtype == (torch.bfloat16 if mixed else torch.float32)


def test_processes_take_gpus_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert [own_device("cuda", number) for number in range(3)] == ["cuda:0", "cuda:1", "cuda:0"]
    assert [own_device("cpu", number) for number in range(2)] == ["cpu", "cpu"]
    assert device_name("cpu") == "cpu"


def test_nccl_is_for_a_gpu_each() -> None:
    assert backend_for(["GPU-1", "GPU-2"]) == "nccl"
    assert backend_for(["GPU-1", "GPU-2", "GPU-1"]) == "gloo"
    assert backend_for(["cpu", "cpu"]) == "gloo"
    assert backend_for(["cpu"]) == "gloo"


@WHERE
def test_a_step_of_cloning_is_on_the_networks_device(device: str) -> None:
    rows = np.arange(BATCH)
    model = MiniConfig(cameras=("one",), state_dim=4, action_dim=4, chunk_size=8)
    demos = Demonstrations(
        rows,
        np.zeros((BATCH, 4), np.float32),
        np.zeros((BATCH, 8, 4), np.float32),
        np.full(BATCH, 8),
        np.zeros((BATCH, model.landmarks), np.float32),
        np.zeros(BATCH, np.int64),
    )
    network = MiniNetwork(model).to(device)
    images = torch.zeros(BATCH, 1, 3, model.image_size, model.image_size, device=device)
    loss, _ = bc.losses(
        network, bc.CloningBatch.of(demos, rows, slice(None), images, torch.zeros(BATCH, 384))
    )
    loss.backward()
    assert loss.device.type == device
    assert torch.isfinite(loss)


@WHERE
def test_an_update_of_a_policy_is_on_its_device(device: str) -> None:
    shape = MlpShape(observation_dim=6, action_dim=4, value_width=4)
    policy = StateMlp(shape)
    policy.network.to(device)
    seen = np.random.default_rng(0).standard_normal((BATCH, 6)).astype(np.float32)
    decision = policy.sample(seen, np.zeros((BATCH, shape.chunk, 4), np.float32))
    known = {
        "tokens": decision.tokens,
        "logprobs": decision.logprobs,
        "executed": np.ones((BATCH, shape.chunk)),
        "advantages": np.array([[1.0], [-1.0]]),
        "weights": np.full((BATCH, shape.chunk), 1 / (BATCH * shape.chunk)),
        "values": decision.values,
        "returns": decision.values,
    }
    tensors = {name: torch.from_numpy(value).float() for name, value in known.items()}
    algorithm = Grpo(adv_type="grpo", group_size=BATCH, kl_beta=0.1)
    learner = LocalLearner(Learner(policy, algorithm, Optim(lr=1e-3), BATCH), device)
    figures = learner.update(Batch(observations=torch.from_numpy(seen), **tensors), 0, 0)
    assert figures["train/actor/ratio_at_step_0"] == pytest.approx(1.0, abs=1e-5)
    assert next(policy.network.parameters()).device.type == device


@pytest.mark.parametrize(
    ("arguments", "instead"),
    [
        (["planner"], "start one process, without it"),
        (["rl", "--config", "reach_ci"], "set cluster.component_placement, which starts its processes"),
    ],
    ids=["planner", "rl"],
)
def test_what_does_not_share_its_work_refuses_torchrun(
    arguments: list[str], instead: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of its processes would write the same folder."""
    for name, value in (("TORCHELASTIC_RUN_ID", "1"), ("WORLD_SIZE", "2"), ("RANK", "1")):
        monkeypatch.setenv(name, value)
    done = CliRunner().invoke(app, ["train", *arguments, "--out", str(tmp_path / "run")])
    assert isinstance(done.exception, ContractError)
    assert str(done.exception).endswith(instead)
    assert not (tmp_path / "run").exists()
