"""Random OpenVLA-OFT checkpoints in the layout of a fine-tuned one; runs in the sidecar `openvla_oft`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from openral_policy_nodes.families.openvla_oft.network import OpenVLAOFT, ProprioProjector
from tiny_checkpoints import LABEL, on_a_gpu
from tiny_checkpoints.tokenizer import make_tokenizer

DATA_SET = "libero_spatial_no_noops"
PADDING = 64
"""Rows of the embedding beyond the tokenizer's words, as in every OpenVLA checkpoint."""
_IMAGENET = ([0.484375, 0.455078125, 0.40625], [0.228515625, 0.2236328125, 0.224609375])
_HALF = ([0.5, 0.5, 0.5], [0.5, 0.5, 0.5])


@dataclass(frozen=True)
class Size:
    """Widths and depths of the language model, and timm's names of the towers."""

    towers: tuple[str, str]
    image: int
    """[px]"""
    hidden: int
    intermediate: int
    layers: int
    heads: int


SIZES = {
    "openvla": Size(("test_vit2", "test_vit3"), 64, 64, 128, 2, 4),
    "openvla_7b": Size(
        ("vit_large_patch14_reg4_dinov2.lvd142m", "vit_so400m_patch14_siglip_224"),
        *(224, 4096, 11_008, 32, 32),
    ),
}
"""By the name that the command line has for it. The second has the dimensions of OpenVLA-7B, but for the words, which
are few; it is to measure with."""


def make(family: str, folder: Path, *, seed: int, image: int = 0, state: int = 8, action: int = 7) -> None:
    """Write a checkpoint: config.json, two shards, tokenizer, image statistics, data set statistics, proprioception.

    Args:
        family: a key of `SIZES`.
        folder: where to; made if need be.
        seed: of the weights.
        image: [px] height and width of the images, a multiple of the towers' patches; 0: the size's own.
        state: length of the proprioception.
        action: length of an action; the last number is the gripper's.
    """
    torch.manual_seed(seed)
    size = SIZES[family]
    image = image or size.image
    folder.mkdir(parents=True, exist_ok=True)
    words = ("<unk>", "<s>", "</s>", "▁")
    tokenizer = make_tokenizer(
        words, vocabulary=640, prefix="<s>", bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )
    config = _config(size, image, len(tokenizer))
    torch.set_default_dtype(
        torch.bfloat16 if size.layers > 2 else torch.float32
    )  # half the memory to build in
    with on_a_gpu():
        network = OpenVLAOFT(config).to(torch.bfloat16)
    torch.set_default_dtype(torch.float32)
    tensors = {name.replace(".gamma", ".scale_factor"): value for name, value in network.state_dict().items()}
    _save_shards(folder, tensors)
    projector = ProprioProjector(state, config["text_config"]["hidden_size"]).to(torch.bfloat16)
    save_file(
        {f"module.{name}": value for name, value in projector.state_dict().items()},
        folder / "proprio_projector.safetensors",
    )
    tokenizer.save_pretrained(folder)
    means, stds = zip(_IMAGENET, _HALF, strict=True)
    preprocessor = {"image_processor_type": "PrismaticImageProcessor", "input_sizes": [[3, image, image]] * 2}
    _write(folder / "preprocessor_config.json", {**preprocessor, "means": means, "stds": stds})
    _write(folder / "config.json", config)
    _write(folder / "dataset_statistics.json", {DATA_SET: _statistics(state, action)})
    (folder / "README.md").write_text(
        f"# Tiny OpenVLA-OFT\n\n**{LABEL}.** Made by `tools/make_tiny_checkpoint.py`: timm's vision transformers and "
        "transformers' LLaMA, very small, in the file layout of a fine-tuned checkpoint.\n"
    )


def _config(size: Size, image: int, words: int) -> dict[str, Any]:
    return {
        "architectures": ["OpenVLAForActionPrediction"],
        "arch_specifier": "no-align+fused-gelu-mlp",
        "image_resize_strategy": "resize-naive",
        "image_sizes": [image, image],
        "llm_max_length": 2048,
        "model_type": "openvla",
        "n_action_bins": 256,
        "norm_stats": {},
        "pad_to_multiple_of": PADDING,
        "text_config": {
            "model_type": "llama",
            "vocab_size": words + PADDING,
            "hidden_size": size.hidden,
            "intermediate_size": size.intermediate,
            "num_hidden_layers": size.layers,
            "num_attention_heads": size.heads,
            # Large enough that actions of the tiny one differ by time and sentence.
            "initializer_range": 0.2 if size.layers == 2 else 0.02,
            "bos_token_id": 1,
            "eos_token_id": 2,
            "torch_dtype": "bfloat16",
        },
        "timm_model_ids": list(size.towers),
        "timm_override_act_layers": [None, None],
        "torch_dtype": "bfloat16",
        "use_fused_vision_backbone": True,
        "vision_backbone_id": "dinosiglip-vit-so-224px",
    }


def _statistics(state: int, action: int) -> dict[str, Any]:
    def of(size: int, gripper: bool) -> dict[str, Any]:
        low = [-0.5 - 0.05 * index for index in range(size)]
        high = [0.4 + 0.1 * index for index in range(size)]
        mask = [True] * (size - 1) + [not gripper]
        return {"q01": low, "q99": high, "min": low, "max": high, "mask": mask}

    proprio = of(state, gripper=False)
    proprio.pop("mask")
    return {
        "action": of(action, gripper=True),
        "proprio": proprio,
        "num_transitions": 0,
        "num_trajectories": 0,
    }


def _save_shards(folder: Path, tensors: dict[str, torch.Tensor]) -> None:
    """Write two files and the index that transformers writes beside them."""
    names, shards, index = sorted(tensors), 2, {}
    for number in range(shards):
        part = names[number::shards]
        file = f"model-{number + 1:05d}-of-{shards:05d}.safetensors"
        save_file({name: tensors[name].contiguous() for name in part}, folder / file, {"format": "pt"})
        index |= dict.fromkeys(part, file)
    size = sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())
    _write(folder / "model.safetensors.index.json", {"metadata": {"total_size": size}, "weight_map": index})


def _write(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n")
