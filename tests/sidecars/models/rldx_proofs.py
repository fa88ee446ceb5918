"""Which modules of an RLDX-1 checkpoint are packed; run where torch and bitsandbytes are, answers as JSON.

    rldx_proofs.py FOLDER

Writes a checkpoint of upstream's arrangement into FOLDER (random weights, proves plumbing only): `backbone.qwen_model`
is transformers' Qwen3-VL, `action_model` a head whose layers are as large. Then loads it as upstream's loader does.
"""

# ruff: noqa: E402  the shim comes before anything that imports torchvision
from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from openral_sidecar.environment.torchvision_shim import ensure_torchvision

ensure_torchvision()
import torch
from bitsandbytes.nn import Linear4bit
from safetensors.torch import load_file
from storage_meter import StorageMeter
from torch import nn
from transformers import AutoConfig, AutoModel, PretrainedConfig, PreTrainedModel, Qwen3VLConfig
from transformers.models.qwen3_vl import Qwen3VLForConditionalGeneration

from openral_policy_nodes.families.rldx.backbone import BackboneInNf4
from openral_rskill.nf4.host_embedding import HostEmbedding
from openral_rskill.nf4.packable_weights import MIN_NUMEL
from openral_rskill.nf4.rule import linears_to_pack

WIDE = 2048
QWEN = {
    "text_config": {
        "hidden_size": WIDE,
        "intermediate_size": WIDE,
        "num_hidden_layers": 2,
        "num_attention_heads": 16,
        "num_key_value_heads": 4,
        "head_dim": 128,
        "vocab_size": 64,
        "rope_scaling": {"mrope_interleaved": True, "mrope_section": [24, 20, 20], "rope_type": "default"},
    },
    "vision_config": {
        "hidden_size": 32,
        "intermediate_size": 64,
        "depth": 1,
        "num_heads": 2,
        "out_hidden_size": WIDE,
        "deepstack_visual_indexes": [0],
        "num_position_embeddings": 16,
    },
    "tie_word_embeddings": False,
}


class RLDXConfig(PretrainedConfig):
    model_type = "rldx_proof"


class RLDX(PreTrainedModel):
    config_class = RLDXConfig

    def __init__(self, config: RLDXConfig, transformers_loading_kwargs: dict[str, Any] | None = None) -> None:
        super().__init__(config)
        self.backbone = nn.Module()
        self.backbone.qwen_model = Qwen3VLForConditionalGeneration._from_config(Qwen3VLConfig(**QWEN))
        for value in self.backbone.qwen_model.model.language_model.layers[-1].parameters():
            value.data = value.data.float()  # as upstream builds the layers that fine-tuning moves
        self.action_model = nn.Module()
        self.action_model.model = nn.ModuleDict(
            {name: nn.Linear(WIDE, WIDE) for name in ("vl_qkv", "sa_qkv", "linear1", "linear2")}
        )
        self.action_model.state_encoder = nn.Linear(64, WIDE)
        self.post_init()

    def _init_weights(self, module: nn.Module) -> None:
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=0.02)


def main(folder: Path) -> None:
    torch.manual_seed(0)
    AutoConfig.register(RLDXConfig.model_type, RLDXConfig)
    AutoModel.register(RLDXConfig, RLDX)
    plain = RLDX(RLDXConfig()).to(torch.bfloat16)
    plain.save_pretrained(folder)
    large = linears_to_pack(plain, MIN_NUMEL)
    del plain
    with StorageMeter() as meter:
        model = BackboneInNf4(AutoModel).from_pretrained(folder, device_map="cpu", torch_dtype=torch.bfloat16)
        left = meter.now
    saved = load_file(folder / "model.safetensors")
    head = model.action_model.state_dict()
    packed = {name: part for name, part in model.named_modules() if isinstance(part, Linear4bit)}
    text = model.backbone.qwen_model.model.language_model
    with torch.inference_mode():
        hidden = text(input_ids=torch.tensor([[1, 2, 3]])).last_hidden_state
    answer = {
        "large": large,
        "compute_dtypes": sorted({str(part.compute_dtype) for part in packed.values()}),
        "bytes_beside_result": meter.peak - left,
        "largest_weight_bytes": 2 * WIDE * WIDE,
        "table_is_on_the_host": isinstance(text.embed_tokens, HostEmbedding),
        "word_head_is_gone": not list(model.backbone.qwen_model.lm_head.parameters()),
        "table_looks_up_the_same": torch.equal(
            text.embed_tokens(torch.tensor([3, 5])),
            saved["backbone.qwen_model.model.language_model.embed_tokens.weight"][[3, 5]],
        ),
        "packed": list(packed),
        "head_dtypes": sorted({str(value.dtype) for value in head.values()}),
        "head_is_as_saved": all(
            torch.equal(value, saved[f"action_model.{name}"]) for name, value in head.items()
        ),
        "backbone_answers": bool(torch.isfinite(hidden).all()),
        "dtype": str(model.dtype),
    }
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
