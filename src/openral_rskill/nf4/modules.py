"""Packs the large linear layers of a module tree in place."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

from openral_rskill.nf4.rule import MIN_NUMEL, linears_to_pack
from openral_rskill.nf4.weights import packed_linear, quantize_weight


def quantize_module(
    module: nn.Module,
    *,
    min_numel: int = MIN_NUMEL,
    include: Callable[[str], bool] | None = None,
) -> list[str]:
    """Replace the large `nn.Linear` layers under `module` by NF4 ones, on the device where they are.

    Args:
        module: weights loaded; what is not packed stays as it is.
        min_numel: least number of weights of a layer that is packed.
        include: says by name which layers may be packed, so that a head can stay exact; absent: all.

    Returns:
        The names of the packed layers, in order; the proof of what was packed and what was not.
    """
    names = linears_to_pack(module, min_numel, include)
    for name in names:
        linear = module.get_submodule(name)
        assert isinstance(linear, nn.Linear), "linears_to_pack names nothing else"
        weight = linear.weight.detach()
        shape = (linear.out_features, linear.in_features)
        data, state = quantize_weight(weight, shape, weight.dtype, weight.device)
        replace(module, name, packed_linear(linear, data, state.as_dict(packed=True)))
    return names


def replace(module: nn.Module, name: str, part: nn.Module) -> None:
    """Put `part` where `module` has its submodule of that dotted name."""
    parent, _, last = name.rpartition(".")
    setattr(module.get_submodule(parent), last, part)
