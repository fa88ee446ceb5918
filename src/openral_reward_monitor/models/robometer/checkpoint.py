"""Loads a Robometer checkpoint folder: plain or packed weights, into a network that was built without weights."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from accelerate import init_empty_weights
from transformers import Qwen3VLConfig

from openral_core.errors import PolicyError
from openral_reward_monitor.models.robometer.config import PROGRESS_TOKEN, read_rbm_config
from openral_reward_monitor.models.robometer.inputs import RbmInputs
from openral_reward_monitor.models.robometer.rbm import RBM
from openral_rskill.nf4.load import load_checkpoint
from openral_rskill.nf4.metadata import check_metadata
from openral_rskill.nf4.packable_weights import MIN_NUMEL
from openral_rskill.nf4.rule import linears_to_pack
from openral_rskill.weight_shards import weight_files

EMBEDDING = "model.language_model.embed_tokens"
"""Name of the token embedding: 0.78 GB of the 4-B model in bf16, of which a scoring reads a few thousand rows."""


def build_skeleton(folder: Path, inputs: RbmInputs) -> RBM:
    """Build the graph of a checkpoint with its parameters on the meta device and its buffers real.

    Raises:
        PolicyError: its configuration is missing, describes another graph, or another vocabulary than its tokenizer's.
    """
    config = read_rbm_config(folder)
    path = folder / "config.json"
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise PolicyError(f"{path}: cannot be read ({error}); fetch it again") from error
    # The released file names `architectures: [RFM]`, a class that does not exist; only the backbone's fields are used.
    backbone = Qwen3VLConfig.from_dict(fields)
    backbone._attn_implementation = "sdpa"
    if backbone.text_config.vocab_size < inputs.vocabulary:
        raise PolicyError(
            f"{path}: vocab_size {backbone.text_config.vocab_size} is less than the tokenizer's {inputs.vocabulary}; "
            "use the files of one checkpoint"
        )
    before = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, config.dtype))
    try:
        with init_empty_weights(include_buffers=False):
            skeleton = RBM(backbone, config.progress_bins, inputs.token(PROGRESS_TOKEN))
    finally:
        torch.set_default_dtype(before)
    return skeleton.eval()


def load_rbm(
    folder: Path, inputs: RbmInputs, *, device: str, quantize: bool, min_numel: int = MIN_NUMEL
) -> tuple[RBM, list[str]]:
    """Load a checkpoint.

    Packed weights are loaded as they are and never unpacked. Plain weights are packed while they are read if `quantize`
    is set. The token embedding stays in the host's memory.

    Returns:
        The model, and the names of its layers that are packed.

    Raises:
        PolicyError: a file is missing or does not fit the others.
    """
    model = build_skeleton(folder, inputs)
    files = weight_files(folder)
    pack = linears_to_pack(model, min_numel) if quantize else []
    packed = load_checkpoint(model, files, device, pack=pack, on_host=[EMBEDDING])
    if packed:
        check_metadata(folder, packed)
    return model, packed
