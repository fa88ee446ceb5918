"""Checkpoint's files, manifest's fields and the client's half, with a scripted model in the server's handlers."""

from __future__ import annotations

import argparse
import json
from types import SimpleNamespace

import numpy as np
import pytest

from openral_core.errors import PolicyError
from openral_core.types import PolicyBatch
from openral_policy_nodes.families.factory import BUILT_IN, load_policy
from openral_policy_nodes.families.openvla_oft.checkpoint import read_checkpoint
from openral_policy_nodes.families.openvla_oft.policy import OpenVLAOFTPolicy, settings_for
from openral_policy_nodes.families.openvla_oft.server import describe, handlers
from openral_policy_nodes.families.openvla_oft.settings import OpenVlaSettings, add_arguments, settings_of
from openral_sidecar.errors import SidecarRefused

CAMERAS = ["observation.images.camera1", "observation.images.camera2"]
OPENVLA = {
    "model_family": "openvla",
    "sensors_required": [{"modality": "rgb", "vla_feature_key": key} for key in CAMERAS],
    "actuators_required": [
        {"kind": "cartesian_delta", "control_mode_semantics": {"mode": "delta", "reference_frame": "base"}},
        {
            "kind": "gripper_binary",
            "control_mode_semantics": {"mode": "absolute", "gripper_convention": "binary_close_one"},
        },
    ],
    "image_preprocessing": {"image_size": [32, 32], "norm_tag": "libero_spatial"},
    "state_contract": {"dim": 8},
    "action_contract": {"dim": 7},
    "quantization": {"dtype": "bf16"},
    "chunk_size": 8,
}
BATCH = PolicyBatch(
    {name: np.full((2, 32, 32, 3), 10 * index, np.uint8) for index, name in enumerate(CAMERAS)},
    np.zeros((2, 8), np.float32),
    ["open the drawer", "close it"],
)


class ScriptedModel:
    """Answers its step number in each joint and the second camera's grey in the gripper, as 0 to 1."""

    checkpoint = SimpleNamespace(image_size=32)
    settings = SimpleNamespace(cameras=2, rows=8)
    action = SimpleNamespace(low=np.zeros(7))
    proprio = SimpleNamespace(low=np.zeros(8))
    resets: tuple[str, ...] = ()
    packed: tuple[str, ...] = ()

    def reset(self, episodes):
        self.resets = tuple(episodes)

    def predict(self, images, state, instructions, episodes):
        chunk = np.tile(np.arange(8, dtype=np.float32)[None, :, None], (len(instructions), 1, 7))
        chunk[..., -1] = images[:, 1, 0, 0, 0][:, None] / 10
        chunk.flags.writeable = False  # as it comes from the wire
        return chunk


class Direct:
    """Calls the handlers in this process."""

    starts = 1

    def __init__(self):
        self.model = ScriptedModel()
        self.description = describe(self.model)
        self.handlers = handlers(self.model)

    def call(self, op, data=None, *, timeout_s=None):
        return self.handlers[op](dict(data or {}))

    def close(self):
        pass


@pytest.fixture
def skill(make_skill):
    def make(**changes):
        return make_skill({**OPENVLA, **changes})

    return make


def test_cameras_keep_their_order_and_the_gripper_becomes_liberos(skill):
    server = Direct()
    policy = OpenVLAOFTPolicy(skill().manifest, server)
    policy.reset(["goal"])
    chunk = policy.predict(BATCH)
    assert server.model.resets == ("goal",)
    assert (chunk.shape, chunk.dtype) == ((2, 8, 7), np.float32)
    assert chunk[1, :, 0].tolist() == list(range(8))
    assert (chunk[..., -1] == -1).all()  # camera2's grey says 1, open


def test_a_gripper_of_0_to_1_is_left_as_it_is(skill):
    actuators = json.loads(json.dumps(OPENVLA["actuators_required"]))
    actuators[1]["kind"] = "gripper_position"
    actuators[1]["control_mode_semantics"]["gripper_convention"] = "normalized_open_unit"
    chunk = OpenVLAOFTPolicy(skill(actuators_required=actuators).manifest, Direct()).predict(BATCH)
    assert (chunk[..., -1] == 1).all()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"action_contract": {"dim": 6}}, r"write action_contract\.dim: 7"),
        ({"state_contract": {"dim": 4}}, r"write state_contract\.dim: 8"),
        (
            {"image_preprocessing": {"norm_tag": "x", "image_size": [64, 64]}},
            r"image_preprocessing\.image_size: \[32, 32\]",
        ),
        ({"actuators_required": OPENVLA["actuators_required"][:1]}, "says nothing of the gripper"),
    ],
)
def test_faults_name_the_fix(skill, changes, said):
    with pytest.raises(PolicyError, match=rf"rskill-fake-arm.*{said}"):
        OpenVLAOFTPolicy(skill(**changes).manifest, Direct())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"images": np.zeros((2, 1, 32, 32, 3), np.uint8)},
            r"images is uint8 \(2, 1, 32, 32, 3\), the policy takes",
        ),
        ({"images": np.zeros((2, 2, 64, 64, 3), np.uint8)}, r"takes uint8 \(2, 2, 32, 32, 3\)"),
        ({"state": np.zeros((2, 8))}, "state is float64"),
        ({"instructions": []}, "not empty"),
    ],
)
def test_a_request_that_does_not_fit_is_refused(change, said):
    images = np.stack(list(BATCH.images.values()), axis=1)
    good = {"images": images, "state": BATCH.state, "instructions": list(BATCH.instructions)}
    with pytest.raises(SidecarRefused, match=said):
        handlers(ScriptedModel())["predict"]({**good, **change})


def test_settings_come_from_the_manifest_and_travel_as_arguments(skill):
    extras = {"center_crop": False, "stop_token": False, "temperature": 1.6, "seed": 3}
    settings = settings_for(skill(policy_extras=extras).manifest)
    assert settings == OpenVlaSettings("libero_spatial", 8, 2, False, False, 1.6, 3)
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    assert settings_of(parser.parse_args(settings.arguments())) == settings


@pytest.mark.parametrize(
    ("extras", "said"),
    [
        ({"centre_crop": True}, "centre_crop unknown; known are center_crop, seed, stop_token, temperature"),
        ({"temperature": -1.0}, r"temperature: -1\.0"),
        ({"center_crop": 1}, "center_crop: 1 is no bool"),
        ({"seed": "x"}, "seed: 'x' is no int"),
    ],
)
def test_extras_that_mean_nothing_are_refused(skill, extras, said):
    with pytest.raises(PolicyError, match=said):
        settings_for(skill(policy_extras=extras).manifest)


def checkpoint(folder, **changes):
    config = {
        "model_type": "openvla",
        "timm_model_ids": ["a", "b"],
        "image_sizes": [32, 32],
        "n_action_bins": 256,
        "pad_to_multiple_of": 64,
        "text_config": {"vocab_size": 32064},
        "norm_stats": {"bridge_orig": {}},
    }
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps({**config, **changes}))
    half = [[0.5, 0.5, 0.5]] * 2
    (folder / "preprocessor_config.json").write_text(json.dumps({"means": half, "stds": half}))
    (folder / "dataset_statistics.json").write_text(json.dumps({"libero_spatial_no_noops": {}}))
    (folder / "tokenizer.json").write_text("{}")
    for number in (1, 2):
        (folder / f"model-0000{number}-of-00002.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}")
    return folder


def test_a_checkpoint_is_read(tmp_path):
    found = read_checkpoint(checkpoint(tmp_path / "c"))
    assert (found.image_size, found.vocabulary, found.bins, found.takes_proprio) == (32, 32000, 256, False)
    assert sorted(found.norm_stats) == ["bridge_orig", "libero_spatial_no_noops"]
    assert [path.name[6:11] for path in found.weights] == ["00001", "00002"]
    bare = read_checkpoint(checkpoint(tmp_path / "d", norm_stats=None))  # OpenVLAConfig's default
    assert sorted(bare.norm_stats) == ["libero_spatial_no_noops"]
    before = found.fingerprint()
    found.weights[1].write_bytes(found.weights[1].read_bytes() + b"\1")
    assert read_checkpoint(tmp_path / "c").fingerprint() != before


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda c: (c / "config.json").unlink(), r"has no config\.json; name the folder"),
        (lambda c: checkpoint(c, model_type="llama"), "model_type 'llama', not 'openvla'"),
        (
            lambda c: (c / "action_head--150000_checkpoint.pt").write_bytes(b""),
            "only action tokens are served",
        ),
        (lambda c: (c / "tokenizer.json").unlink(), "lacks .*tokenizer.json"),
        (lambda c: (c / "preprocessor_config.json").write_text("{}"), "lacks 'means'"),
        (lambda c: (c / "dataset_statistics.json").write_text("{"), "cannot be read"),
    ],
)
def test_what_is_wrong_with_it_is_said_in_one_line(tmp_path, spoil, said):
    folder = checkpoint(tmp_path / "c")
    spoil(folder)
    with pytest.raises(PolicyError, match=said) as caught:
        read_checkpoint(folder)
    assert "\n" not in str(caught.value)


def test_the_family_is_in_the_table_and_reads_the_checkpoint_first(skill):
    assert "openvla" in BUILT_IN
    with pytest.raises(PolicyError, match=r"has no config\.json"):
        load_policy(skill())
