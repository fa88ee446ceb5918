"""Real LeRobot code on tiny checkpoints (random weights, proves plumbing only), through the real sidecar."""

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

from openral_core.errors import PolicyError
from openral_core.types import PolicyBatch
from openral_policy_nodes.families.episode_seeds import EpisodeSeeds
from openral_policy_nodes.families.factory import load_policy
from openral_policy_nodes.families.lerobot.spec import SPEC
from openral_rskill.registry import load_package
from openral_sidecar.environment.build import ensure_environment

ROOT = Path(__file__).parents[3]
CAMERA = "observation.images.camera1"
FAMILIES = ("smolvla", "act", "diffusion")
LAYOUT = {
    "README.md",
    "config.json",
    "model.safetensors",
    "policy_postprocessor.json",
    "policy_postprocessor_step_0_unnormalizer_processor.safetensors",
    "policy_preprocessor.json",
    "train_config.json",
}


@pytest.fixture(scope="module")
def python() -> Path:
    return ensure_environment(SPEC)


@pytest.fixture(scope="module")
def checkpoints(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tiny")
    for family in FAMILIES:
        command = [
            sys.executable,
            "tools/make_tiny_checkpoint.py",
            family,
            str(root / family),
            "--image",
            "64",
        ]
        subprocess.run(command, cwd=ROOT, check=True, timeout=300)
    return root


def skill(checkpoint: Path, folder: Path, family: str, **changes: object) -> Path:
    """Copy a checkpoint into a skill of its own."""
    shutil.copytree(checkpoint, folder)
    back = family == "diffusion"
    manifest = {
        "name": f"tests/rskill-tiny-{family}",
        "version": "0.1.0",
        "license": "apache-2.0",
        "kind": "vla",
        "model_family": family,
        "description": "Random weights",
        "embodiment_tags": ["sawyer"],
        "sensors_required": [{"modality": "rgb", "vla_feature_key": CAMERA}],
        "actuators_required": [
            {
                "kind": "cartesian_delta",
                "control_mode_semantics": {"mode": "delta", "reference_frame": "world"},
            }
        ],
        "weights_uri": "local://model.safetensors",
        "processors": {
            "preprocessor_uri": "local://policy_preprocessor.json",
            "postprocessor_uri": "local://policy_postprocessor.json",
        },
        "image_preprocessing": {"image_size": [64, 64], **({"history": [-1, 0]} if back else {})},
        "state_contract": {"layout": "ee_pos3_gripper1", "dim": 4, "history": back},
        "action_contract": {"dim": 4},
        "chunk_size": 8 if back else 16,
        "latency_budget": {"per_chunk_ms": 1000},
        "actions": ["open"],
    }
    (folder / "rskill.yaml").write_text(yaml.safe_dump({**manifest, **changes}))
    return folder


def observations(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Two observations of two instants each."""
    return {
        "images": rng.integers(0, 256, (2, 2, 64, 64, 3), np.uint8),
        "state": rng.standard_normal((2, 2, 4)).astype(np.float32),
        "instructions": np.array(["open the drawer", "press the big red button"]),
    }


def batch_of(given: dict[str, np.ndarray], family: str) -> PolicyBatch:
    instants = slice(None) if family == "diffusion" else 1
    images, state = given["images"][:, instants], given["state"][:, instants]
    return PolicyBatch({CAMERA: images}, state, [str(s) for s in given["instructions"]], ["goal-1", "goal-2"])


@pytest.mark.parametrize("family", FAMILIES)
def test_files_are_those_of_a_trained_checkpoint(checkpoints: Path, family: str) -> None:
    names = {path.name for path in (checkpoints / family).iterdir() if path.is_file()}
    [normaliser] = names - LAYOUT
    assert normaliser.startswith("policy_preprocessor_step_")
    assert normaliser.endswith("_normalizer_processor.safetensors")
    assert names >= LAYOUT
    assert json.loads((checkpoints / family / "config.json").read_text())["type"] == family
    assert "random weights, proves plumbing only" in (checkpoints / family / "README.md").read_text()


@pytest.mark.parametrize("family", FAMILIES)
def test_the_servers_chunk_is_lerobots_own(
    checkpoints: Path, python: Path, tmp_path: Path, family: str
) -> None:
    given = observations(np.random.default_rng(7))
    np.savez(tmp_path / "given.npz", **given)
    seed = EpisodeSeeds(0).next(["goal-1", "goal-2"])
    script = [str(python), str(Path(__file__).with_name("lerobot_reference.py"))]
    words = [str(checkpoints / family), str(tmp_path / "given.npz"), str(tmp_path / "chunk.npy"), str(seed)]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
    }
    subprocess.run([*script, *words], env=environment, check=True, timeout=300)
    expected = np.load(tmp_path / "chunk.npy")

    policy = load_policy(load_package(skill(checkpoints / family, tmp_path / "skill", family)))
    try:
        batch = batch_of(given, family)
        policy.reset(batch.episodes)
        chunk = policy.predict(batch)
        again = policy.predict(batch)
        policy.reset(batch.episodes)
        replayed = policy.predict(batch)
    finally:
        policy.close()
    assert chunk.dtype == np.float32
    np.testing.assert_array_equal(chunk, expected)
    np.testing.assert_array_equal(replayed, chunk)
    assert np.array_equal(again, chunk) == (family == "act")  # the others draw new noise
    assert not np.array_equal(chunk[0], chunk[1])


def test_history_matters_to_diffusion(checkpoints: Path, tmp_path: Path) -> None:
    policy = load_policy(load_package(skill(checkpoints / "diffusion", tmp_path / "skill", "diffusion")))
    try:
        batch = batch_of(observations(np.random.default_rng(7)), "diffusion")
        still = PolicyBatch(
            {CAMERA: np.repeat(batch.images[CAMERA][:, 1:], 2, axis=1)},
            np.repeat(batch.state[:, 1:], 2, axis=1),
            batch.instructions,
            batch.episodes,
        )
        moving = policy.predict(batch)
        policy.reset(batch.episodes)
        assert not np.array_equal(policy.predict(still), moving)
    finally:
        policy.close()


def test_a_backbone_that_is_not_there_is_said(checkpoints: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    folder = skill(checkpoints / "smolvla", tmp_path / "skill", "smolvla")
    shutil.rmtree(folder / "vlm")
    with pytest.raises(
        PolicyError, match=r"hf download HuggingFaceTB/SmolVLM2-500M-Video-Instruct .*--local-dir"
    ):
        load_policy(load_package(folder))


def test_weights_of_another_policy_are_refused(checkpoints: Path, tmp_path: Path) -> None:
    folder = skill(checkpoints / "act", tmp_path / "skill", "act")
    shutil.copy(checkpoints / "smolvla" / "model.safetensors", folder / "model.safetensors")
    with pytest.raises(PolicyError, match=r"lacks \d+ tensors of the policy, such as model\."):
        load_policy(load_package(folder))


def test_a_backbone_whose_weights_are_in_the_checkpoint_is_not_fetched(
    checkpoints: Path, tmp_path: Path
) -> None:
    folder = skill(checkpoints / "smolvla", tmp_path / "skill", "smolvla", quantization={"dtype": "bf16"})
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "load_vlm_weights": True}))
    policy = load_policy(load_package(folder))
    try:
        chunk = policy.predict(batch_of(observations(np.random.default_rng(7)), "smolvla"))
    finally:
        policy.close()
    assert chunk.shape == (2, 16, 4)
    assert np.isfinite(chunk).all()


def test_a_camera_that_training_never_had_is_named_in_the_manifest(checkpoints: Path, tmp_path: Path) -> None:
    wrist = "observation.images.camera2"
    folder = skill(checkpoints / "smolvla", tmp_path / "skill", "smolvla")
    config = json.loads((folder / "config.json").read_text())
    config["input_features"][wrist] = config["input_features"][CAMERA]
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(PolicyError, match=rf"looks through {wrist}.*policy_extras\.absent_cameras"):
        load_policy(load_package(folder))
    manifest = yaml.safe_load((folder / "rskill.yaml").read_text())
    manifest["policy_extras"] = {"absent_cameras": [wrist]}
    (folder / "rskill.yaml").write_text(yaml.safe_dump(manifest))
    policy = load_policy(load_package(folder))
    try:
        assert policy.predict(batch_of(observations(np.random.default_rng(7)), "smolvla")).shape == (2, 16, 4)
    finally:
        policy.close()


@pytest.mark.parametrize(
    ("dtype", "weights", "apart"), [("fp32", "torch.float32", 1e-5), ("bf16", "torch.bfloat16", 1e-2)]
)
def test_a_recording_of_smolvla_acts_as_lerobot_does(
    checkpoints: Path, python: Path, dtype: str, weights: str, apart: float
) -> None:
    """What a GPU replays as one graph, proven on a trace of the operations: new values, sentences of any length."""
    script = [str(python), str(Path(__file__).with_name("static_sampling_proof.py"))]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
    }
    done = subprocess.run(
        [*script, str(checkpoints / "smolvla"), dtype],
        env=environment,
        check=True,
        timeout=300,
        stdout=subprocess.PIPE,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["different"]  # the second batch is answered otherwise than the first
    assert (found["recordings"], found["refused"]) == (2, "")
    assert found["cast"] == 0.0
    assert found["recorded"] <= apart
    assert found["weights"] == weights
