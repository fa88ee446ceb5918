"""NF4 covers the backbone of an RLDX-1 model and leaves its action head in bf16. Runs in robometer's environment, which
has the same bitsandbytes and Qwen3-VL, so that no second one of several gigabytes has to be built for it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from openral_policy_nodes.families.rldx.spec import SPEC
from openral_sidecar.environment.code_links import bundle_for

PROOFS = Path(__file__).with_name("rldx_proofs.py")
LAYERS = [f"backbone.qwen_model.model.language_model.layers.{i}" for i in range(2)]
LINEARS = ("self_attn.q_proj", "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj")
HEAD = [f"action_model.model.{name}" for name in ("vl_qkv", "sa_qkv", "linear1", "linear2")]


def test_the_backbone_is_packed_and_the_head_is_not(robometer_python: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(bundle_for(SPEC.module)), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [str(robometer_python), str(PROOFS), str(tmp_path)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    backbone = [f"{layer}.{linear}" for layer in LAYERS for linear in LINEARS]
    assert set(found["large"]) == {*backbone, *HEAD}  # the head's layers are large enough to be packed
    assert set(found["packed"]) == set(backbone)
    assert found["head_dtypes"] == ["torch.bfloat16"]
    assert found["head_is_as_saved"]
    assert found["backbone_answers"]
    assert found["dtype"] == "torch.bfloat16"
    # Upstream builds some layers in float32; a packed layer computes in the dtype that it was packed from.
    assert found["compute_dtypes"] == ["torch.bfloat16"]
    assert found["bytes_beside_result"] < 4 * found["largest_weight_bytes"]
    assert found["table_is_on_the_host"]
    assert found["table_looks_up_the_same"]
    assert found["word_head_is_gone"]
