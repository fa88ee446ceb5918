"""The rule for which linear layers of a module are packed."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

from openral_rskill.nf4.packable_weights import MIN_NUMEL, packable


def linears_to_pack(
    module: nn.Module,
    min_numel: int = MIN_NUMEL,
    include: Callable[[str], bool] | None = None,
) -> list[str]:
    """Return the names of the `nn.Linear` layers under `module` to which the rule applies, in order.

    Layers whose weight is shared with another module, such as a language model's head with its embedding, are excluded,
    since packing one of the two would separate them.

    Args:
        module: may be on the meta device.
        min_numel: least number of weights.
        include: returns whether the layer of a name may be packed; None: all may.
    """
    owners: dict[int, int] = {}
    for part in module.modules():
        for parameter in part._parameters.values():
            if parameter is not None:
                owners[id(parameter)] = owners.get(id(parameter), 0) + 1
    return [
        name
        for name, part in module.named_modules()
        if type(part) is nn.Linear
        and packable(tuple(part.weight.shape), min_numel)
        and owners[id(part.weight)] == 1
        and (include is None or include(name))
    ]
