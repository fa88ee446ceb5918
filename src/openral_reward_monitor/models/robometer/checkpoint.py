"""A Robometer checkpoint folder as a model: plain or packed weights on a skeleton without weights of its own."""

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
from openral_rskill.nf4.modules import quantize_module
from openral_rskill.nf4.rule import MIN_NUMEL

WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"


def build_skeleton(folder: Path, inputs: RbmInputs) -> RBM:
    """Build the graph of a checkpoint with its parameters on the meta device and its buffers real.

    Raises:
        PolicyError: its configuration is missing, describes another graph, or another vocabulary than its tokenizer's.
    """
    config = read_rbm_config(folder)
    path = folder / "config.json"
    try:
        fields = json.loads(path.read_text())
    except (OSError, json.JSONDecodeError) as error:
        raise PolicyError(f"{path}: cannot be read ({error}); fetch it again") from error
    # The released file says `architectures: [RFM]`, a class that does not exist; the backbone's fields are what counts.
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


def weight_files(folder: Path) -> list[Path]:
    """Return the safetensors files of a checkpoint, one or the shards that its index names.

    Raises:
        PolicyError: there are none.
    """
    if (folder / INDEX).is_file():
        index = json.loads((folder / INDEX).read_text())
        files = [folder / name for name in sorted(set(index["weight_map"].values()))]
    else:
        files = [folder / WEIGHTS]
    if missing := [path.name for path in files if not path.is_file()]:
        raise PolicyError(f"{folder}: {missing[0]} is missing; fetch the weights again, as safetensors")
    return files


def load_rbm(
    folder: Path, inputs: RbmInputs, *, device: str, quantize: bool, min_numel: int = MIN_NUMEL
) -> tuple[RBM, list[str]]:
    """Load a checkpoint.

    Packed weights are taken as they are and never unpacked. Plain ones are packed in place when `quantize` is set.

    Returns:
        The model, and the names of its layers that are packed.

    Raises:
        PolicyError: a file is missing or does not fit the others.
    """
    model = build_skeleton(folder, inputs)
    packed = load_checkpoint(model, weight_files(folder), device)
    if packed:
        check_metadata(folder, packed)
    elif quantize:
        packed = quantize_module(model, min_numel=min_numel)
    return model, packed
