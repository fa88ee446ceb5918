"""Changes to a module tree before its weights are read: replacing a submodule, and casting parameters."""

from __future__ import annotations

import torch
from torch import nn


def replace(module: nn.Module, name: str, part: nn.Module) -> None:
    """Replace the submodule of `module` with the dotted name `name` by `part`."""
    parent, _, last = name.rpartition(".")
    setattr(module.get_submodule(parent), last, part)


def cast_parameters(module: nn.Module, dtype: torch.dtype) -> None:
    """Cast the parameters under `module` to a dtype, without gradients.

    Buffers, such as rotary frequencies, keep their dtype, and so do parameters of batch normalisation, whose statistics
    are buffers.
    """
    for part in module.modules():
        if isinstance(part, nn.modules.batchnorm._BatchNorm):
            continue
        for name, value in part._parameters.items():
            if value is not None:
                part._parameters[name] = nn.Parameter(value.to(dtype), requires_grad=False)
