from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from openral_core.errors import PolicyError
from openral_reward_monitor.models.robometer.config import SPECIAL_TOKENS, RbmConfig, read_rbm_config

MODEL = {
    "base_model_id": "Qwen/Qwen3-VL-4B-Instruct",
    "torch_dtype": "bfloat16",
    "use_multi_image": True,
    "use_per_frame_progress_token": True,
    "progress_loss_type": "discrete",
    "progress_discrete_bins": 10,
    "use_unsloth": True,
}
DOCUMENT = {
    "mode": "train",
    "model": MODEL,
    "training": {"max_steps": 20000},
    "custom_eval": {"eval_types": []},
}


def write(folder: Path, document: Any) -> Path:
    (folder / "config.yaml").write_text(yaml.safe_dump(document))
    return folder


def test_only_what_shapes_the_graph_is_read(tmp_path: Path) -> None:
    config = read_rbm_config(write(tmp_path, DOCUMENT))
    assert config == RbmConfig("Qwen/Qwen3-VL-4B-Instruct", 10, "bfloat16")


def test_the_loss_section_says_what_the_model_section_leaves_out(tmp_path: Path) -> None:
    model = {name: value for name, value in MODEL.items() if not name.startswith("progress_")}
    loss = {"progress_loss_type": "discrete", "progress_discrete_bins": 21}
    assert read_rbm_config(write(tmp_path, {"model": model, "loss": loss})).progress_bins == 21


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"base_model_id": "HuggingFaceTB/SmolVLM2-500M"}, r"base_model_id is 'HuggingFaceTB/SmolVLM2-500M'"),
        ({"use_multi_image": False}, r"use_multi_image is False"),
        ({"use_per_frame_progress_token": "${data.x}"}, r"use_per_frame_progress_token is \$\{data\.x\}"),
        ({"progress_loss_type": "l2"}, r"progress_loss_type is l2; only discrete"),
        ({"progress_discrete_bins": 1}, r"progress_discrete_bins is 1"),
        ({"torch_dtype": "int8"}, r"torch_dtype is int8"),
    ],
)
def test_a_graph_that_is_not_built_is_refused_with_the_value_in_the_way(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(PolicyError, match=message):
        read_rbm_config(write(tmp_path, {**DOCUMENT, "model": {**MODEL, **change}}))


@pytest.mark.parametrize("text", ["", "[1, 2]", "model: 3", "model: {"])
def test_what_is_no_configuration_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.yaml").write_text(text)
    with pytest.raises(PolicyError, match=r"config\.yaml: "):
        read_rbm_config(tmp_path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"config\.yaml: cannot be read"):
        read_rbm_config(tmp_path)


def test_the_progress_token_is_the_last_of_the_five() -> None:
    # Qwen's 151669 words and these five make the vocabulary of 151674 that the released model has.
    assert len(SPECIAL_TOKENS) == 5
    assert SPECIAL_TOKENS[-1] == "<|prog_token|>"


def test_a_configuration_that_is_no_text_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PolicyError, match=r"config\.yaml: cannot be read"):
        read_rbm_config(tmp_path)
