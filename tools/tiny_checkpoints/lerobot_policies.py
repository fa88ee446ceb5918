"""Small SmolVLA, ACT and Diffusion checkpoints, built and saved by LeRobot's own code; runs in its sidecar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from lerobot.configs.default import DatasetConfig
from lerobot.configs.train import TrainPipelineConfig
from lerobot.configs.types import FeatureType, PolicyFeature
from lerobot.policies.act.configuration_act import ACTConfig
from lerobot.policies.diffusion.configuration_diffusion import DiffusionConfig
from lerobot.policies.factory import get_policy_class, make_pre_post_processors
from lerobot.policies.smolvla.configuration_smolvla import SmolVLAConfig
from lerobot.processor import TokenizerProcessorStep
from transformers import (
    GenerationConfig,
    LlamaConfig,
    SmolVLMConfig,
    SmolVLMImageProcessor,
    SmolVLMProcessor,
    SmolVLMVideoProcessor,
    SmolVLMVisionConfig,
)

from tiny_checkpoints import LABEL
from tiny_checkpoints.tokenizer import make_tokenizer

CAMERA = "observation.images.camera1"
VLM_NAME = "HuggingFaceTB/SmolVLM2-500M-Video-Instruct"
"""The name that real SmolVLA checkpoints carry for their backbone's configuration and tokenizer."""


def make(family: str, folder: Path, *, seed: int, image: int = 128, state: int = 4, action: int = 4) -> None:
    """Write a checkpoint as `lerobot-train` leaves it.

    Args:
        family: a key of `CONFIGS`.
        folder: where to; made if need be.
        seed: of the weights.
        image: [px] height and width of the one camera, `observation.images.camera1`.
        state: length of `observation.state`.
        action: length of `action`.
    """
    torch.manual_seed(seed)
    folder.mkdir(parents=True, exist_ok=True)
    inputs = {
        CAMERA: PolicyFeature(FeatureType.VISUAL, (3, image, image)),
        "observation.state": PolicyFeature(FeatureType.STATE, (state,)),
    }
    outputs = {"action": PolicyFeature(FeatureType.ACTION, (action,))}
    kind = family.partition("_")[0]
    config = CONFIGS[family](folder)
    config.input_features, config.output_features = inputs, outputs
    policy = get_policy_class(kind)(config)
    before, after = make_pre_post_processors(config, dataset_stats=_statistics(state, action))
    if kind == "smolvla":
        _name_backbone(config, before)
    policy.save_pretrained(folder)
    before.save_pretrained(folder)
    after.save_pretrained(folder)
    TrainPipelineConfig(
        dataset=DatasetConfig(repo_id=f"openral/tiny-{family}"), policy=config
    ).save_pretrained(folder)
    (folder / "README.md").write_text(_card(family))


def _statistics(state: int, action: int) -> dict[str, dict[str, torch.Tensor]]:
    """Numbers of a data set that never was, far enough from 0 and 1 to show whether they are used."""

    def of(size: int, spread: float) -> dict[str, torch.Tensor]:
        mean = torch.linspace(-0.2, 0.3, size)
        std = torch.linspace(0.5, 1.0, size) * spread
        return {"mean": mean, "std": std, "min": mean - 2 * std, "max": mean + 2 * std}

    pixels = {
        "mean": torch.tensor([0.485, 0.456, 0.406]).reshape(3, 1, 1),
        "std": torch.tensor([0.229, 0.224, 0.225]).reshape(3, 1, 1),
    }
    return {CAMERA: pixels, "observation.state": of(state, 0.5), "action": of(action, 0.2)}


def _name_backbone(config: Any, before: Any) -> None:
    """Put the hub's name of the backbone where the local folder was, as in every real checkpoint."""
    config.vlm_model_name = VLM_NAME
    for step in before.steps:
        if isinstance(step, TokenizerProcessorStep):
            step.tokenizer_name = VLM_NAME


def _smolvla(folder: Path) -> SmolVLAConfig:
    _save_backbone(folder / "vlm", TINY)
    return SmolVLAConfig(
        device="cpu",
        chunk_size=16,
        n_action_steps=16,
        vlm_model_name=str(folder / "vlm"),
        load_vlm_weights=False,
        resize_imgs_with_padding=(64, 64),
        tokenizer_max_length=32,
        num_vlm_layers=2,
        num_steps=4,
        push_to_hub=False,
    )


def _smolvla_450m(folder: Path) -> SmolVLAConfig:
    """LeRobot's defaults, which are those of lerobot/smolvla_base, on a backbone of its dimensions with few words."""
    _save_backbone(folder / "vlm", SMOLVLM2_500M)
    return SmolVLAConfig(
        device="cpu",
        vlm_model_name=str(folder / "vlm"),
        load_vlm_weights=False,
        num_vlm_layers=16,
        expert_width_multiplier=0.75,
        self_attn_every_n_layers=2,
        push_to_hub=False,
    )


def _act(_: Path) -> ACTConfig:
    return ACTConfig(
        device="cpu",
        chunk_size=16,
        n_action_steps=8,
        dim_model=64,
        n_heads=2,
        dim_feedforward=128,
        n_encoder_layers=1,
        n_vae_encoder_layers=1,
        latent_dim=8,
        pretrained_backbone_weights=None,
        push_to_hub=False,
    )


def _diffusion(_: Path) -> DiffusionConfig:
    return DiffusionConfig(
        device="cpu",
        n_obs_steps=2,
        horizon=16,
        n_action_steps=8,
        down_dims=(32, 64),
        n_groups=4,
        diffusion_step_embed_dim=32,
        spatial_softmax_num_keypoints=8,
        num_train_timesteps=100,
        num_inference_steps=4,
        noise_scheduler_type="DDIM",
        push_to_hub=False,
    )


CONFIGS: dict[str, Callable[[Path], Any]] = {
    "smolvla": _smolvla,
    "smolvla_450m": _smolvla_450m,
    "act": _act,
    "diffusion": _diffusion,
}


@dataclass(frozen=True)
class Backbone:
    """Dimensions of a SmolVLM2."""

    text: dict[str, int]
    vision: dict[str, int]
    scale_factor: int
    """A token is made of so many patches squared."""


TINY = Backbone(
    {
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
    },
    {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "image_size": 64,
        "patch_size": 16,
    },
    2,
)
SMOLVLM2_500M = Backbone(
    {
        "hidden_size": 960,
        "intermediate_size": 2560,
        "num_hidden_layers": 32,
        "num_attention_heads": 15,
        "num_key_value_heads": 5,
        "head_dim": 64,
    },
    {
        "hidden_size": 768,
        "intermediate_size": 3072,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "image_size": 512,
        "patch_size": 16,
    },
    4,
)


def _save_backbone(folder: Path, dimensions: Backbone) -> None:
    """Write configuration, tokenizer and image processor of a SmolVLM2."""
    named = {
        "fake_image_token": "<fake_token_around_image>",
        "image_token": "<image>",
        "global_image_token": "<global-img>",
    }
    specials = ("<|im_start|>", "<|im_end|>", "<end_of_utterance>", *named.values())
    tokenizer = make_tokenizer(
        specials,
        named=named,
        bos_token="<|im_start|>",
        eos_token="<end_of_utterance>",
        pad_token="<|im_end|>",
    )
    size = dimensions.vision["image_size"]
    config = SmolVLMConfig(
        text_config=LlamaConfig(
            vocab_size=len(tokenizer),
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            **dimensions.text,
        ).to_dict()
        | {"model_type": "llama"},
        vision_config=SmolVLMVisionConfig(**dimensions.vision).to_dict(),
        scale_factor=dimensions.scale_factor,
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        pad_token_id=tokenizer.pad_token_id,
    )
    config.architectures = ["SmolVLMForConditionalGeneration"]
    edge = {"longest_edge": size}
    SmolVLMProcessor(
        image_processor=SmolVLMImageProcessor(size=edge, max_image_size=edge),
        tokenizer=tokenizer,
        video_processor=SmolVLMVideoProcessor(size=edge, max_image_size=edge),
        image_seq_len=(size // dimensions.vision["patch_size"] // dimensions.scale_factor) ** 2,
    ).save_pretrained(folder)
    config.save_pretrained(folder)
    GenerationConfig(pad_token_id=tokenizer.pad_token_id).save_pretrained(folder)


def _card(family: str) -> str:
    return (
        f"---\nlicense: apache-2.0\nlibrary_name: lerobot\npipeline_tag: robotics\n---\n\n# Tiny {family}\n\n"
        f"**{LABEL}.** Made by `tools/make_tiny_checkpoint.py` with LeRobot's own code, in the file layout of a "
        "trained checkpoint. It has learned nothing and will solve nothing.\n"
    )
