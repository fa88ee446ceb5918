"""A tiny language model that sees, with random weights, in the files of a real one."""

from __future__ import annotations

from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    CLIPImageProcessorPil,
    CLIPVisionConfig,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    PreTrainedTokenizerFast,
)

from openral_training.rl.policies.token_model import TokenConfig

WORDS = "in what action should the robot take to push pull open close a drawer puck : ? out".split()  # noqa: SIM905
SIZE, PATCH, WIDTH, BINS = 32, 8, 32, 16


def write_tiny_vlm(folder: Path, seed: int = 0, dtype: torch.dtype = torch.float32) -> Path:
    """Write LLaVA with two layers and BINS words for actions, and return the folder."""
    torch.manual_seed(seed)
    words = ["<unk>", "<s>", "<image>", *WORDS, *(f"<action{number}>" for number in range(BINS))]
    tokenizer = Tokenizer(
        models.WordLevel({word: index for index, word in enumerate(words)}, unk_token="<unk>")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", bos_token="<s>").save_pretrained(
        folder
    )
    eyes = CLIPVisionConfig(
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        image_size=SIZE,
        patch_size=PATCH,
    )
    mind = LlamaConfig(
        hidden_size=WIDTH,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        vocab_size=len(words) + 5,
        max_position_embeddings=128,
    )
    config = LlavaConfig(vision_config=eyes, text_config=mind, image_token_index=words.index("<image>"))
    LlavaForConditionalGeneration(config).to(dtype).save_pretrained(folder)
    CLIPImageProcessorPil(
        size={"shortest_edge": SIZE}, crop_size={"height": SIZE, "width": SIZE}
    ).save_pretrained(folder)
    return folder


def tiny(folder: Path, chunk: int = 2, dtype: torch.dtype = torch.float32) -> TokenConfig:
    """Write one and return the config of a policy of it."""
    return TokenConfig(
        model_path=str(write_tiny_vlm(folder, dtype=dtype)), chunk=chunk, bins=BINS, lora_rank=4
    )
