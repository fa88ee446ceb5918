"""Loads an RLDX-1 checkpoint tensor by tensor, with its backbone packed in NF4.

Upstream's loader makes the whole model in one call of `transformers.AutoModel.from_pretrained`. Here that call builds
the modules on the meta device. Then each tensor is read to its place, and the linear layers under `model.backbone`
(Qwen3-VL) are packed. The flow-matching head `model.action_model` stays in bf16: packing it would make its actions
worse without an error. The language-model head is not used and not read, and the embedding table of tokens stays in the
host's memory.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import torch
from accelerate import init_empty_weights
from torch import nn
from transformers import AutoConfig

from openral_core.errors import PolicyError
from openral_rskill.nf4.load import load_checkpoint
from openral_rskill.nf4.module_surgery import cast_parameters, replace
from openral_rskill.nf4.packable_weights import MIN_NUMEL
from openral_rskill.nf4.rule import linears_to_pack
from openral_rskill.weight_shards import weight_files

BACKBONE = "backbone"
"""Name of the module that is packed, in upstream's `RLDX` (rldx/model/core/rldx.py)."""
WORD_HEAD = "backbone.qwen_model.lm_head"
"""Language-model head of 0.62 billion weights, unused in upstream's forward pass
(rldx/model/modules/backbone/adapter.py)."""
WORD_TABLE = "backbone.qwen_model.model.language_model.embed_tokens"
"""Embedding table of tokens."""
_log = logging.getLogger(__name__)


def fill(model: nn.Module, folder: Path, device: str = "cpu", min_numel: int = MIN_NUMEL) -> list[str]:
    """Read a checkpoint into a model on the meta device, with the backbone packed.

    Args:
        model: upstream's RLDX, with its parameters on the meta device and its buffers in memory.
        folder: of the checkpoint, in the format of transformers.
        device: torch device to which the model is moved.
        min_numel: least number of weights of a layer that is packed.

    Returns:
        The names of the packed layers.

    Raises:
        PolicyError: the model has no backbone, or the files do not fit it.
    """
    backbone = getattr(model, BACKBONE, None)
    if not isinstance(backbone, nn.Module):
        raise PolicyError(f"{type(model).__name__} has no part '{BACKBONE}'; it is no RLDX-1 model")
    replace(model, WORD_HEAD, nn.Identity())
    # Upstream's defaults (`backbone_trainable_params_fp32`) build the layers that fine-tuning changes in float32, and a
    # packed layer computes in the dtype that it was packed from. These layers would be slower, and on a CPU the same
    # seed would give other actions.
    cast_parameters(backbone, torch.bfloat16)
    pack = [f"{BACKBONE}.{name}" for name in linears_to_pack(backbone, min_numel)]
    packed = load_checkpoint(
        model,
        weight_files(folder),
        device,
        pack=pack,
        on_host=[WORD_TABLE],
        renamed=lambda name: None if name.startswith(f"{WORD_HEAD}.") else name,
    )
    model.to(device)  # tensors that are not in the files
    return packed


class BackboneInNf4:
    """Stands in for `transformers.AutoModel` in upstream's loader."""

    def __init__(self, auto_model: Any) -> None:
        self._auto_model = auto_model

    def from_pretrained(self, folder: Any, *, device_map: Any, **options: Any) -> Any:
        """Build the model that the original would load, and fill it on `device_map`, a single device."""
        device = f"cuda:{device_map}" if isinstance(device_map, int) else str(device_map)
        config = AutoConfig.from_pretrained(folder)
        with init_empty_weights(include_buffers=False):
            # Without this upstream would download the weights of the original backbone, only to replace them.
            graph = {"transformers_loading_kwargs": {"skip_pretrained_weights": True}}
            model = self._auto_model.from_config(config, **graph, **options).eval()
        names = fill(model, Path(folder), device)
        _log.info("%d layers of the backbone are packed in NF4; the action head stays as it is", len(names))
        return model
