"""OpenVLA-OFT with real timm and transformers on a tiny checkpoint (random weights, proves plumbing only)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from openral_core.types import PolicyBatch
from openral_policy_nodes.families.factory import load_policy
from openral_policy_nodes.families.openvla_oft.spec import SPEC
from openral_rskill.registry import load_package
from openral_sidecar.environment.build import ensure_environment

ROOT = Path(__file__).parents[3]
CAMERAS = ["observation.images.camera1", "observation.images.camera2"]
SIZE = 64


@pytest.fixture(scope="module")
def python() -> Path:
    return ensure_environment(SPEC)


@pytest.fixture(scope="module")
def checkpoint(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny") / "openvla"
    command = [sys.executable, "tools/make_tiny_checkpoint.py", "openvla", str(folder), "--image", str(SIZE)]
    subprocess.run(command, cwd=ROOT, check=True, timeout=300)
    return folder


def skill(checkpoint: Path, folder: Path, dtype: str = "fp32", **extras: object) -> Path:
    shutil.copytree(checkpoint, folder / "checkpoint")
    gripper = {"mode": "absolute", "gripper_convention": "normalized_open_unit"}
    manifest = {
        "name": "tests/rskill-tiny-openvla",
        "version": "0.1.0",
        "license": "mit",
        "kind": "vla",
        "model_family": "openvla",
        "description": "Random weights",
        "embodiment_tags": ["franka_panda"],
        "sensors_required": [{"modality": "rgb", "vla_feature_key": key} for key in CAMERAS],
        "actuators_required": [
            {
                "kind": "cartesian_delta",
                "control_mode_semantics": {"mode": "delta", "reference_frame": "base"},
            },
            {"kind": "gripper_position", "control_mode_semantics": gripper},
        ],
        "weights_uri": "local://checkpoint",
        "image_preprocessing": {"image_size": [SIZE, SIZE], "norm_tag": "libero_spatial"},
        "state_contract": {"dim": 8},
        "action_contract": {"dim": 7},
        "chunk_size": 8,
        "quantization": {"dtype": dtype, "extra": {"min_params_to_quantize": 1024}},
        "policy_extras": extras,
        "latency_budget": {"per_chunk_ms": 1000},
        "actions": ["pick"],
    }
    (folder / "rskill.yaml").write_text(yaml.safe_dump(manifest))
    return folder


def observations() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    return {
        "images": rng.integers(0, 256, (3, 2, SIZE, SIZE, 3), np.uint8),
        "state": rng.uniform(-1, 1, (3, 8)).astype(np.float32),
        "instructions": np.array(["Open the drawer", "pick up the black bowl", "open the drawer"]),
    }


def batch_of(given: dict[str, np.ndarray]) -> PolicyBatch:
    images = {name: given["images"][:, index] for index, name in enumerate(CAMERAS)}
    return PolicyBatch(images, given["state"], [str(s) for s in given["instructions"]], ["a", "b", "c"])


def test_the_servers_chunk_is_upstreams(checkpoint: Path, python: Path, tmp_path: Path) -> None:
    given = observations()
    np.savez(tmp_path / "given.npz", **given)
    script = [str(python), str(Path(__file__).with_name("openvla_reference.py")), str(checkpoint)]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
    }
    words = [str(tmp_path / "given.npz"), str(tmp_path / "chunk.npy")]
    subprocess.run([*script, *words], env=environment, check=True, timeout=300)
    expected = np.load(tmp_path / "chunk.npy")

    (tmp_path / "skill").mkdir()
    policy = load_policy(load_package(skill(checkpoint, tmp_path / "skill")))
    try:
        chunk = policy.predict(batch_of(given))
    finally:
        policy.close()
    assert chunk.shape == (3, 8, 7)
    assert len(np.unique(expected)) > 20
    np.testing.assert_array_equal(chunk, expected)


def test_drawing_is_replayed_by_the_episodes_name(checkpoint: Path, tmp_path: Path) -> None:
    (tmp_path / "skill").mkdir()
    policy = load_policy(load_package(skill(checkpoint, tmp_path / "skill", temperature=1.6)))
    try:
        batch = batch_of(observations())
        first, second = policy.predict(batch), policy.predict(batch)
        policy.reset(batch.episodes)
        replayed = policy.predict(batch)
    finally:
        policy.close()
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(replayed, first)


def test_the_language_model_is_packed_and_all_else_is_not(checkpoint: Path, python: Path) -> None:
    script = [str(python), str(Path(__file__).with_name("openvla_proofs.py")), str(checkpoint)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(script, env=environment, check=True, timeout=300, capture_output=True, text=True)
    found = json.loads(done.stdout)
    assert found["packed"] == found["are_packed"]
    assert {name.rpartition(".")[2] for name in found["packed"]} == {
        *("q_proj", "k_proj", "v_proj", "o_proj"),
        *("gate_proj", "up_proj", "down_proj"),
    }
    assert all(name.startswith("language_model.model.layers.") for name in found["packed"])
    assert found["packed_in_bf16"] == []
    assert found["compute_dtypes"] == found["rest_dtypes"] == ["torch.bfloat16"]
    assert found["rest_is_as_in_the_file"]
    assert found["frequencies"] == "torch.float32"
    assert found["beside_result"] < found["file_bytes"] / 4
    apart, spread = found["recorded_apart"]  # what a GPU replays as one graph, on a trace of the operations
    assert apart == 0.0 < spread


def test_a_skill_in_int4_acts_the_same_twice(checkpoint: Path, tmp_path: Path) -> None:
    (tmp_path / "skill").mkdir()
    policy = load_policy(load_package(skill(checkpoint, tmp_path / "skill", dtype="int4")))
    try:
        first, second = (policy.predict(batch_of(observations())) for _ in range(2))
    finally:
        policy.close()
    assert first.shape == (3, 8, 7)
    assert len(np.unique(first)) > 20
    np.testing.assert_array_equal(first, second)
