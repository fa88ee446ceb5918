"""Changes to a module tree before its weights are read: another part, another number format."""

from __future__ import annotations

import torch
from torch import nn


def replace(module: nn.Module, name: str, part: nn.Module) -> None:
    """Put `part` where `module` has its submodule of that dotted name."""
    parent, _, last = name.rpartition(".")
    setattr(module.get_submodule(parent), last, part)


def cast_parameters(module: nn.Module, dtype: torch.dtype) -> None:
    """Bring the parameters under `module` to a number format; they need no gradients from then on.

    Buffers, such as rotary frequencies, keep theirs, and so does batch normalisation, whose statistics are buffers.
    """
    for part in module.modules():
        if isinstance(part, nn.modules.batchnorm._BatchNorm):
            continue
        for name, value in part._parameters.items():
            if value is not None:
                part._parameters[name] = nn.Parameter(value.to(dtype), requires_grad=False)
