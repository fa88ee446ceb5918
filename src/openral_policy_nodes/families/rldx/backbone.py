"""Loads an RLDX-1 checkpoint with its backbone in NF4 and all else as it is, never in full width on the accelerator.

Upstream's loader makes the whole model in one call of `transformers.AutoModel.from_pretrained`. Here that call loads
into memory, packs the linear layers under `model.backbone` (Qwen3-VL) one at a time on the device, and moves the rest.
The flow-matching head `model.action_model` stays in bf16: packed, it would give worse actions and nobody would notice.
"""

from __future__ import annotations

import logging
from typing import Any

import torch
from torch import nn

from openral_core.errors import PolicyError
from openral_rskill.nf4.modules import quantize_module
from openral_rskill.nf4.rule import MIN_NUMEL, linears_to_pack

BACKBONE = "backbone"
"""Name of the part that is packed, in upstream's `RLDX` (rldx/model/core/rldx.py)."""
_log = logging.getLogger(__name__)


def quantize_backbone(
    model: nn.Module, device: torch.device | str = "cpu", min_numel: int = MIN_NUMEL
) -> list[str]:
    """Pack the large linear layers of the backbone in place.

    Args:
        model: upstream's RLDX, weights loaded.
        device: where they are packed and stay.
        min_numel: see `quantize_module`.

    Returns:
        The names of the packed layers within `model`.

    Raises:
        PolicyError: the model has no backbone.
    """
    backbone = getattr(model, BACKBONE, None)
    if not isinstance(backbone, nn.Module):
        raise PolicyError(f"{type(model).__name__} has no part '{BACKBONE}'; it is no RLDX-1 model")
    names = linears_to_pack(backbone, min_numel)
    for name in names:
        backbone.get_submodule(name).to(device)
        quantize_module(backbone, min_numel=min_numel, include=name.__eq__)
    return [f"{BACKBONE}.{name}" for name in names]


class BackboneInNf4:
    """Stands in for `transformers.AutoModel` in upstream's loader."""

    def __init__(self, auto_model: Any) -> None:
        self._auto_model = auto_model

    def from_pretrained(self, folder: Any, *, device_map: Any, **options: Any) -> Any:
        """Load as the original does, pack the backbone, and move the model to `device_map`, a single device."""
        model = self._auto_model.from_pretrained(folder, device_map="cpu", **options)
        names = quantize_backbone(model, device_map)
        _log.info("%d layers of the backbone are packed in NF4; the action head stays as it is", len(names))
        return model.to(device_map)
