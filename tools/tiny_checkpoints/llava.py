"""A small LLaVA with random weights, in the files of a real one: a model that sees and may write its actions.

It needs no sidecar: `pip install 'openral[vla]'` has its code.
"""

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

from tiny_checkpoints import LABEL

WORDS = "in what action should the robot take to push pull open close a drawer puck : ? out".split()  # noqa: SIM905
PATCH, WIDTH = 8, 32


def make(
    family: str,
    folder: Path,
    *,
    seed: int = 0,
    image: int = 32,
    bins: int = 256,
    dtype: torch.dtype = torch.float32,
) -> None:
    """Write a model of two layers.

    Args:
        family: llava.
        folder: where to; made if need be.
        seed: of the weights.
        image: [px] height and width of a picture, a multiple of `PATCH`.
        bins: words for actions.
        dtype: of the weights.
    """
    torch.manual_seed(seed)
    folder.mkdir(parents=True, exist_ok=True)
    words = ["<unk>", "<s>", "<image>", *WORDS, *(f"<action{number}>" for number in range(bins))]
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
        image_size=image,
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
        size={"shortest_edge": image}, crop_size={"height": image, "width": image}
    ).save_pretrained(folder)
    (folder / "README.md").write_text(f"# A small {family}\n\n{LABEL}\n")
