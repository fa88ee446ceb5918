"""Packs bf16 safetensors files of a checkpoint into one NF4 safetensors file, without the whole model in memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from openral_core.errors import PolicyError
from openral_rskill.nf4.load import STATE, opened
from openral_rskill.nf4.packable_weights import MIN_NUMEL
from openral_rskill.nf4.quantize import quantize_weight
from openral_rskill.nf4.rule import linears_to_pack
from openral_rskill.safetensors_writer import SafetensorsWriter, safetensors_writer

STATISTICS = ("absmax", "quant_map", "nested_absmax", "nested_quant_map")
"""Suffixes of the tensors that are stored for a packed layer besides its weight and the key `STATE`."""
_WIDTHS = {"F64": 8, "I64": 8, "F32": 4, "I32": 4, "F16": 2, "BF16": 2, "U8": 1, "BOOL": 1}
"""[bytes] size of an element by safetensors' name of its dtype."""


def pack_checkpoint(
    skeleton: nn.Module,
    files: Sequence[Path],
    target: Path,
    *,
    min_numel: int = MIN_NUMEL,
    include: Callable[[str], bool] | None = None,
    device: str = "cpu",
) -> list[str]:
    """Write the packed form of a checkpoint.

    The file contains the tensors of a bitsandbytes state dict; the buffers that a state dict omits (rotary
    frequencies), so that loading need not compute them; and the list of packed layers in its header (`nf4_modules`).

    Args:
        skeleton: the model on the meta device with real buffers; it determines which weights are of linear layers.
        files: safetensors files of the weights in full precision.
        target: the file to write.
        min_numel: least number of weights of a layer that is packed.
        include: returns whether the layer of a name may be packed; None: all may.
        device: name of the torch device that quantises; it does not affect the file.

    Returns:
        The names of the packed layers, in order.

    Raises:
        PolicyError: a layer to be packed is in none of the files.
    """
    layers = linears_to_pack(skeleton, min_numel, include)
    sources = [opened(path) for path in files]
    place = {name: source for source in sources for name in source.keys()}  # noqa: SIM118  no mapping
    weights = {f"{layer}.weight" for layer in layers}
    if missing := weights - set(place):
        raise PolicyError(
            f"{files[0].parent}: {min(missing)} is in none of the weight files; fetch them again"
        )
    buffers = {name: value for name, value in skeleton.named_buffers() if name not in place}
    names = [*place, *buffers, *(f"{layer}{STATE}" for layer in layers)]
    names += [f"{weight}.{key}" for weight in weights for key in STATISTICS]
    with safetensors_writer(target, names, {"nf4_modules": json.dumps(layers)}) as writer:
        rest = {**buffers, **_write_packed(writer, skeleton, layers, place, device)}
        widths = {name: value.element_size() for name, value in rest.items()}
        widths |= {
            name: _WIDTHS[place[name].get_slice(name).get_dtype()] for name in place if name not in weights
        }
        # The widest dtypes come first, so that every tensor begins at a multiple of its element size and can be mapped.
        for name in sorted(widths, key=lambda name: -widths[name]):
            writer.add(name, rest[name] if name in rest else place[name].get_tensor(name))
    return layers


def _write_packed(
    writer: SafetensorsWriter, skeleton: nn.Module, layers: list[str], place: Mapping[str, Any], device: str
) -> dict[str, Tensor]:
    """Write the packed weights and return their statistics, of which there is one number for 64 weights."""
    statistics: dict[str, Tensor] = {}
    for layer in layers:
        linear = skeleton.get_submodule(layer)
        assert isinstance(linear, nn.Linear), "linears_to_pack names nothing else"
        weight = f"{layer}.weight"
        rows = place[weight].get_slice(weight)
        shape = (linear.out_features, linear.in_features)
        if tuple(rows.get_shape()) != shape:
            raise PolicyError(f"{weight} is {tuple(rows.get_shape())} in the file, this model needs {shape}")
        data, state = quantize_weight(rows, shape, linear.weight.dtype, device)
        writer.add(weight, data)
        statistics |= {f"{weight}.{key}": value for key, value in state.as_dict(packed=True).items()}
    return statistics
