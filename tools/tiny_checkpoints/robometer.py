"""Small Robometer checkpoints, file for file as the released one is laid out; runs in its sidecar."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import yaml

from openral_reward_monitor.models.robometer.config import SPECIAL_TOKENS
from tiny_checkpoints import LABEL, on_a_gpu

_WORDS = (
    "endoftext im_start im_end object_ref_start object_ref_end box_start box_end quad_start quad_end vision_start "
    "vision_end vision_pad image_pad video_pad"
)
QWEN_TOKENS = tuple(f"<|{word}|>" for word in _WORDS.split(" "))
"""Qwen3-VL's special tokens that its processor or its template needs, in Qwen's order."""
CHAT_TEMPLATE = (
    "{%- set pictures = namespace(count=0) -%}"
    "{%- for message in messages -%}<|im_start|>{{ message.role + '\\n' }}"
    "{%- for part in message.content -%}{%- if part.type == 'image' -%}"
    "{%- set pictures.count = pictures.count + 1 -%}"
    "{%- if add_vision_id -%}Picture {{ pictures.count }}: {% endif -%}<|vision_start|><|image_pad|><|vision_end|>"
    "{%- else -%}{{ part.text }}{%- endif -%}{%- endfor -%}<|im_end|>{{ '\\n' }}{%- endfor -%}"
)
"""What Qwen3-VL's template makes of a user's turn with texts and numbered pictures."""


@dataclass(frozen=True)
class Size:
    """Widths and depths; all else follows."""

    hidden: int
    intermediate: int
    layers: int
    heads: int
    vision_hidden: int
    vision_intermediate: int
    vision_depth: int
    vision_heads: int
    head_width: int = 0
    kv_heads: int = 0
    positions: int = 256
    deepstack: tuple[int, ...] = (0, 1)

    @property
    def head_dim(self) -> int:
        """Width of one attention head of the language model."""
        return self.head_width or self.hidden // self.heads


SIZES = {
    "robometer": Size(64, 128, 2, 4, 32, 64, 2, 2),
    "robometer_500mb": Size(1024, 4096, 14, 16, 512, 2048, 6, 8),
    "robometer_4b": Size(2560, 9728, 36, 32, 1024, 4096, 24, 16, 128, 8, 2304, (5, 11, 17)),
}
"""By the name that the command line has for it. The second is large enough to measure loading; the third has the
dimensions of Qwen3-VL-4B, but for the words, which are few."""


def make(family: str, folder: Path, *, seed: int) -> None:
    """Write bf16 weights, both configurations, tokenizer, processor, and a README that says what it is.

    Args:
        family: a key of `SIZES`.
        folder: where to; made if need be.
        seed: of the weights.
    """
    size = SIZES[family]
    from transformers import Qwen3VLConfig

    from openral_reward_monitor.models.robometer.rbm import RBM
    from openral_rskill.safetensors_writer import safetensors_writer

    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = _save_tokenizer(folder)
    config = Qwen3VLConfig.from_dict(_backbone(size, tokenizer))
    torch.manual_seed(seed)
    torch.set_default_dtype(torch.bfloat16)
    with on_a_gpu():
        model = RBM(config, 10, tokenizer.convert_tokens_to_ids(SPECIAL_TOKENS[-1]))
    torch.set_default_dtype(torch.float32)
    weights = model.state_dict()
    with safetensors_writer(folder / "model.safetensors", list(weights), {"note": LABEL}) as writer:
        for name, value in weights.items():
            writer.add(name, value)
    fields = {**config.to_dict(), "architectures": ["RFM"]}
    (folder / "config.json").write_text(json.dumps(fields, indent=2, default=str) + "\n")
    (folder / "config.yaml").write_text(yaml.safe_dump(_experiment(), sort_keys=False))
    (folder / "README.md").write_text(f"# A small checkpoint laid out as robometer/Robometer-4B\n\n{LABEL}\n")


def _save_tokenizer(folder: Path) -> Any:
    """Train a byte-level BPE on a few words, add the special tokens and save it with the image processors."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import (
        Qwen2TokenizerFast,
        Qwen2VLImageProcessorFast,
        Qwen3VLProcessor,
        Qwen3VLVideoProcessor,
    )

    from openral_reward_monitor.models.robometer.inputs import PROGRESS_PROMPT

    bpe = ByteLevelBPETokenizer()
    bpe.train_from_iterator([PROGRESS_PROMPT], vocab_size=320, show_progress=False)
    bpe.save_model(str(folder))
    tokenizer = Qwen2TokenizerFast(
        vocab_file=str(folder / "vocab.json"),
        merges_file=str(folder / "merges.txt"),
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=list(QWEN_TOKENS),
    )
    for token in SPECIAL_TOKENS:
        tokenizer.add_special_tokens(
            {"additional_special_tokens": [token]}, replace_additional_special_tokens=False
        )
    sides = {"patch_size": 16, "temporal_patch_size": 2, "merge_size": 2}
    half = {"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}
    Qwen3VLProcessor(
        image_processor=Qwen2VLImageProcessorFast(**sides, **half),
        tokenizer=tokenizer,
        video_processor=Qwen3VLVideoProcessor(**sides, **half),
        chat_template=CHAT_TEMPLATE,
    ).save_pretrained(folder)
    return tokenizer


def _backbone(size: Size, tokenizer: Any) -> dict[str, Any]:
    sections = [size.head_dim // 4, size.head_dim // 8, size.head_dim // 8]
    return {
        "image_token_id": tokenizer.convert_tokens_to_ids("<|image_pad|>"),
        "video_token_id": tokenizer.convert_tokens_to_ids("<|video_pad|>"),
        "vision_start_token_id": tokenizer.convert_tokens_to_ids("<|vision_start|>"),
        "vision_end_token_id": tokenizer.convert_tokens_to_ids("<|vision_end|>"),
        "tie_word_embeddings": True,
        "text_config": {
            "hidden_size": size.hidden,
            "intermediate_size": size.intermediate,
            "num_hidden_layers": size.layers,
            "num_attention_heads": size.heads,
            "num_key_value_heads": size.kv_heads or size.heads // 2,
            "head_dim": size.head_dim,
            "vocab_size": len(tokenizer),
            "rope_theta": 5_000_000,
            "rope_scaling": {"mrope_interleaved": True, "mrope_section": sections, "rope_type": "default"},
            "tie_word_embeddings": True,
        },
        "vision_config": {
            "hidden_size": size.vision_hidden,
            "intermediate_size": size.vision_intermediate,
            "depth": size.vision_depth,
            "num_heads": size.vision_heads,
            "out_hidden_size": size.hidden,
            "patch_size": 16,
            "temporal_patch_size": 2,
            "spatial_merge_size": 2,
            "num_position_embeddings": size.positions,
            "deepstack_visual_indexes": list(size.deepstack),
        },
    }


def _experiment() -> dict[str, Any]:
    """The sections of upstream's ExperimentConfig that matter, and one that does not."""
    progress = {"progress_loss_type": "discrete", "progress_discrete_bins": 10}
    return {
        "mode": "train",
        "trainer_cls": "rbm_heads",
        "model": {
            "base_model_id": "Qwen/Qwen3-VL-4B-Instruct",
            "model_type": "default",
            "torch_dtype": "bfloat16",
            "use_multi_image": True,
            "use_per_frame_progress_token": True,
            "average_temporal_patches": False,
            "frame_pooling": "mean",
            "frame_pooling_attn_temperature": 1.0,
            "use_peft": False,
            "quantization": False,
            "use_unsloth": True,
            **progress,
        },
        "data": {"max_frames": 8, "use_multi_image": True},
        "loss": progress,
    }
