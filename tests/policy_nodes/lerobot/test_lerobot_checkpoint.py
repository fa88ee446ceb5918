from __future__ import annotations

import json

import pytest
from lerobot_files import write_checkpoint

from openral_core.errors import PolicyError
from openral_policy_nodes.families.lerobot.checkpoint import STEPS, read_checkpoint


def test_a_checkpoint_is_read(tmp_path):
    checkpoint = read_checkpoint(write_checkpoint(tmp_path / "c"))
    assert checkpoint.kind == "smolvla"
    assert checkpoint.backbone is None
    (tmp_path / "c" / "vlm").mkdir()
    (tmp_path / "c" / "vlm" / "config.json").write_text("{}")
    assert checkpoint.backbone == tmp_path / "c" / "vlm"


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (
            lambda c: (c / "config.json").unlink(),
            r"has no config\.json; name the folder of a whole checkpoint",
        ),
        (lambda c: (c / "config.json").write_text("{"), r"config\.json cannot be read.*fetch it again"),
        (lambda c: (c / "config.json").write_text("[]"), "is not a JSON object"),
        (lambda c: (c / "config.json").write_text('{"model_type": "llama"}'), "no 'type'.*LeRobot policy"),
        (lambda c: (c / "model.safetensors").rename(c / "model.bin"), r"only model\.bin.*unpickled; save"),
        (lambda c: (c / "policy_preprocessor.json").unlink(), "before LeRobot 0.4; convert.*migrate_policy"),
        (
            lambda c: (c / "policy_postprocessor.json").write_text(
                json.dumps({"steps": [{"class": "os.system"}]})
            ),
            r"runs 'os\.system'; only steps of LeRobot",
        ),
        (lambda c: (c / "policy_preprocessor.json").write_text('{"steps": null}'), "has no list of 'steps'"),
        *(
            (
                lambda c, step=step: (c / "policy_preprocessor.json").write_text(
                    json.dumps({"steps": [step]})
                ),
                said,
            )
            for step, said in (
                # LeRobot loads this tokenizer with trust_remote_code, from a repository that the file names.
                (
                    {
                        "registry_name": "action_tokenizer_processor",
                        "config": {"action_tokenizer_name": "somebody/code"},
                    },
                    "runs 'action_tokenizer_processor'; only steps of LeRobot",
                ),
                # LeRobot calls whatever its modules have under this name, here shutil's function.
                (
                    {
                        "class": "lerobot.policies.groot.utils.copytree",
                        "config": {"src": "/a", "dst": "/b", "dirs_exist_ok": True},
                    },
                    r"runs 'lerobot\.policies\.groot\.utils\.copytree'; only steps of LeRobot",
                ),
                ({"class": "lerobot.processor.pipeline.save_file"}, "only steps of LeRobot"),
                ({"registry_name": ["device_processor"]}, "only steps of LeRobot"),
                ({}, "runs 'a step without a name'"),
                ("device_processor", "runs 'a step without a name'"),
            )
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path, spoil, said):
    folder = write_checkpoint(tmp_path / "c")
    spoil(folder)
    with pytest.raises(PolicyError, match=said) as caught:
        read_checkpoint(folder)
    assert "\n" not in str(caught.value)


def test_fingerprint_follows_the_content(tmp_path):
    one, other = (read_checkpoint(write_checkpoint(tmp_path / name)) for name in "ab")
    assert one.fingerprint() == other.fingerprint()
    (other.folder / "README.md").write_text("words")
    assert one.fingerprint() == other.fingerprint()
    weights = other.folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes() + b"\1")
    assert one.fingerprint() != other.fingerprint()


@pytest.mark.parametrize("name", sorted(STEPS))
def test_steps_of_the_policies_that_are_served_are_allowed(tmp_path, name):
    folder = write_checkpoint(tmp_path / "c")
    (folder / "policy_preprocessor.json").write_text(json.dumps({"steps": [{"registry_name": name}]}))
    assert read_checkpoint(folder).folder == folder
