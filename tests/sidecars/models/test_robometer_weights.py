"""The graph and its packed weights, in the sidecar's interpreter, on tiny checkpoints and on the real one's shapes."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from openral_reward_monitor.models.robometer.spec import SPEC
from openral_sidecar.environment.code_links import bundle_for

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def prove(robometer_python: Path) -> Any:
    def run(*arguments: object) -> dict[str, Any]:
        command = [str(robometer_python), str(HERE / "robometer_proofs.py"), *map(str, arguments)]
        environment = {
            **os.environ,
            **SPEC.environment,
            "PYTHONPATH": str(bundle_for(SPEC.module)),
            "OMP_NUM_THREADS": "1",
        }
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=600, check=False
        )
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return run


def test_the_real_graph_has_the_released_models_parameters_and_packed_layers(prove: Any) -> None:
    found = prove("real")
    assert found["parameters"] == 4_447_004_940
    assert len(found["layers"]) == 236
    assert found["gigabytes"] == pytest.approx(3.32, abs=0.005)
    kinds = Counter(name.rpartition(".")[2] for name in found["layers"])
    language = {"q_proj": 36, "o_proj": 36, "gate_proj": 36, "up_proj": 36, "down_proj": 36}
    assert kinds == {**language, "linear_fc1": 28, "linear_fc2": 28}
    assert found["buffers_on_meta"] == []
    for name in (
        "model.language_model.embed_tokens.weight",
        "model.language_model.layers.35.self_attn.q_norm.weight",
        "model.visual.blocks.23.mlp.linear_fc2.bias",
        "progress_head.4.bias",
        "preference_head.1.weight",
        "success_head.0.weight",
        "frame_pool_attn.weight",
    ):
        assert name in found["names"]


@pytest.fixture(scope="module")
def packing(prove: Any, tiny_robometer: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("packing") / "plain"
    folder.symlink_to(tiny_robometer)
    found: dict[str, Any] = prove("packing", folder)
    return found


def test_packed_weights_are_the_bits_that_quantising_in_place_gives(packing: dict[str, Any]) -> None:
    assert len(packing["layers"]) == 16
    assert packing["lists_agree"]
    assert packing["bits_agree"]
    assert packing["bits_are_bitsandbytes_own"]
    assert packing["largest_difference"] == 0.0
    assert 0.0 < packing["difference_to_bf16"] < 0.5
    assert packing["unchanged_by_use"]
    assert packing["meta_left"] == []
    assert packing["folded"] == [
        "model.language_model.rotary_emb.inv_freq",
        "model.visual.rotary_pos_emb.inv_freq",
    ]


def test_the_bits_do_not_depend_on_the_number_of_threads(prove: Any) -> None:
    # 0: what bitsandbytes makes of the matrix as a whole, with one thread.
    assert prove("threads")["agree"] == {"0": True, "1": True, "2": True, "4": True}


def test_what_is_not_included_stays_as_it_was(packing: dict[str, Any]) -> None:
    assert packing["included"] == [name for name in packing["layers"] if ".visual." in name]
    assert 0 < len(packing["included"]) < len(packing["layers"])
    assert packing["excluded_kept_as_they_were"]


def test_a_plain_checkpoint_is_packed_a_few_rows_at_a_time(prove: Any, tiny_robometer: Path) -> None:
    found = prove("memory", tiny_robometer)
    assert found["packed"] == 16
    assert found["beside_result"] < found["plain_bytes"] / 4
    assert found["compute_dtypes"] == ["torch.bfloat16"]
    assert found["table_is_on_the_host"]
    assert not found["keeps_keys_and_values"]
    assert found["flash_attention"]
    assert found["memory_efficient_attention"]


def test_pictures_are_prepared_where_the_model_is_and_are_pillows(prove: Any, tiny_robometer: Path) -> None:
    found = prove("pictures", tiny_robometer)
    assert found["same"] == {"96": True, "90": True}
    assert found["devices"] == ["meta"]
    # One copy of bytes for all pictures; besides it only words cross.
    assert found["copied"] == sorted([*found["words_bytes"], found["pictures_bytes"]])


def test_the_forward_pass_reads_one_token_a_frame(prove: Any, tiny_robometer: Path) -> None:
    found = prove("graph", tiny_robometer)
    assert found["shapes"] == [[8, 10], [8]]
    assert found["upstream_reads_the_same"]
    # Rows of a product depend on how many there are by a rounding of bf16 on some CPUs.
    assert found["later_frames_change_earlier_scores_by"] < 2**-8
    assert found["words_matter"]
    assert found["same_bits_twice"]
    assert found["grid"] == [[1, 6, 10]] * 8  # 90 x 160 px is brought to 96 x 160, patches of 16
    assert found["pictures"] == found["tokens_follow_pictures"] == 8
    assert found["starts"]
    assert found["ends"]
    assert found["stored_is_what_the_graph_has"]


def test_replayed_or_not_the_scores_are_the_same_bits(prove: Any, tiny_robometer: Path) -> None:
    found = prove("recorded", tiny_robometer)
    assert found["apart"] == [[0.0, 0.0]] * 3
    assert found["words_matter"]
    # Two runs of the vision tower with pictures of two sizes, and the decoder with three lengths of its input.
    assert found["recordings"] == [2, 2, 3], found["refused"]
    assert found["apart_when_nothing_is_recorded"] == 0.0
    assert found["recordings_then"] == found["recordings"]
    assert found["weights_are_kept"]
