"""Loads plain or packed safetensors files into a model built on the meta device, without a second copy."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from openral_core.errors import PolicyError
from openral_rskill.nf4.host_embedding import HostEmbedding
from openral_rskill.nf4.module_surgery import replace
from openral_rskill.nf4.quantize import packed_linear, quantize_weight
from openral_rskill.nf4.statistics_check import statistics_fault

STATE = ".weight.quant_state.bitsandbytes__nf4"
"""Suffix to a packed layer's name that makes a key which every packed layer has in a file."""
MAPPED = 1_000_000_000
"""[bytes] that are read of a file before it is mapped again; tensors that are read by rows are counted as float32."""


def opened(path: Path, device: str = "cpu") -> Any:
    """Open a safetensors file without reading its data; the library's own stub has no types.

    Raises:
        PolicyError: the file is missing, or is no complete safetensors file.
    """
    try:
        return safe_open(path, framework="pt", device=device)
    except (OSError, SafetensorError) as error:
        raise PolicyError(f"{path}: no whole safetensors file ({error}); fetch it again") from error


def load_checkpoint(
    skeleton: nn.Module,
    files: Sequence[Path],
    device: str = "cpu",
    *,
    pack: Collection[str] = (),
    on_host: Collection[str] = (),
    renamed: Callable[[str], str | None] = lambda name: name,
) -> list[str]:
    """Set every parameter and buffer of `skeleton` to its value in the files.

    On a CPU the values stay mapped to the files and are read when they are first used. Layers of `pack` are quantised a
    few rows at a time while they are read, so that host and device hold at most one tensor besides the result, and the
    host `MAPPED` bytes of the files.

    Args:
        skeleton: built with `accelerate.init_empty_weights(include_buffers=False)`, so that buffers which are in no
            file, such as rotary frequencies, have their values. The dtypes of its parameters are kept.
        files: safetensors files; each name must be in one only.
        device: name of the torch device.
        pack: names of linear layers to be packed, unless the files contain packed layers already.
        on_host: names of embeddings whose tables stay in the host's memory, mapped to the file.
        renamed: returns the skeleton's name for a name in the files; None: the tensor is not read.

    Returns:
        The names of the packed layers, in order.

    Raises:
        PolicyError: a tensor is missing, unknown, in two files, or has another shape.
    """
    packed: list[str] = []
    with contextlib.ExitStack() as open_files:
        sources = [open_files.enter_context(WeightFile(path, device)) for path in files]
        _refuse_names_in_two(sources)
        is_packed = any(name.endswith(STATE) for source in sources for name in source.names)
        to_pack = frozenset(() if is_packed else pack)
        for source in sources:
            packed += _load_file(skeleton, source, device, to_pack, on_host, renamed)
    tie: Callable[[], None] | None = getattr(skeleton, "tie_weights", None)
    if tie is not None:
        tie()
    _move_buffers(skeleton, device)
    left = [name for name, value in _values(skeleton) if value.is_meta]
    if left:
        where = ", ".join(str(path) for path in files)
        raise PolicyError(
            f"{where}: {len(left)} tensors are missing, {left[0]} the first; fetch the files again"
        )
    order = {name: place for place, (name, _) in enumerate(skeleton.named_modules())}
    return sorted(packed, key=lambda name: order[name])


class WeightFile:
    """A safetensors file that is mapped again after every `MAPPED` bytes that were read.

    Pages of a mapped file count as memory of the process from when they are read until the file is unmapped. With one
    mapping a checkpoint of 14 GB takes 14 GB of the host's memory, whatever the target of its tensors.
    """

    def __init__(self, path: Path, device: str) -> None:
        """Open a file; see `opened`."""
        self.path, self._device, self._read = path, device, 0
        self._file = opened(path, device)
        self.names: list[str] = list(self._file.keys())

    def __enter__(self) -> WeightFile:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.__exit__(None, None, None)

    def get_tensor(self, name: str) -> Tensor:
        """Return a tensor on the device; on a CPU it stays mapped."""
        value: Tensor = self._mapped().get_tensor(name)
        self._read += value.nbytes
        return value

    def get_slice(self, name: str) -> Any:
        """Return a slice object that reads rows of a tensor."""
        rows = self._mapped().get_slice(name)
        self._read += math.prod(rows.get_shape()) * 4
        return rows

    def _mapped(self) -> Any:
        if self._read > MAPPED:
            self.__exit__()
            self._file, self._read = opened(self.path, self._device), 0
        return self._file


def _refuse_names_in_two(sources: Sequence[WeightFile]) -> None:
    seen: set[str] = set()
    for source in sources:
        if twice := seen & set(source.names):
            raise PolicyError(f"{source.path}: {min(twice)} is in another file too; keep one set of weights")
        seen |= set(source.names)


def _load_file(
    skeleton: nn.Module,
    source: WeightFile,
    device: str,
    pack: Collection[str],
    on_host: Collection[str],
    renamed: Callable[[str], str | None],
) -> list[str]:
    """Load one file into the skeleton, and return the names of its packed layers; see `load_checkpoint`."""
    path, names = source.path, source.names
    packed = [name.removesuffix(STATE) for name in names if name.endswith(STATE)]
    consumed = _load_packed(skeleton, packed, names, source, path)
    for name in names:
        if name in consumed or (place := renamed(name)) is None:
            continue
        layer = place.removesuffix(".weight")
        if layer in pack and layer != place:
            _pack(skeleton, layer, source.get_slice(name), device, path)
            packed.append(layer)
        elif layer in on_host and layer != place:
            _keep_on_host(skeleton, layer, name, path)
        else:
            _assign(skeleton, place, source.get_tensor(name), path)
    return packed


def _load_packed(
    skeleton: nn.Module, layers: list[str], names: list[str], source: WeightFile, path: Path
) -> set[str]:
    """Replace the skeleton's layers by packed ones, and return the keys of the file that belong to them."""
    consumed: set[str] = set()
    weights = {f"{layer}.weight" for layer in layers}
    statistics: dict[str, list[str]] = {weight: [] for weight in weights}
    for name in names:
        owner = name[: name.rfind(".weight.") + len(".weight")]
        if owner in weights:
            statistics[owner].append(name)
    for layer in layers:
        weight = f"{layer}.weight"
        linear = _part(skeleton, layer, path)
        if not isinstance(linear, nn.Linear):
            raise PolicyError(f"{path}: {layer} is packed, but is no linear layer of this model")
        if weight not in names:
            raise PolicyError(
                f"{path}: {weight} is missing, of which statistics are there; fetch the file again"
            )
        data = source.get_tensor(weight)
        if data.dtype != torch.uint8 or data.numel() * 2 != linear.in_features * linear.out_features:
            raise PolicyError(
                f"{path}: {weight} is of another size than this model's; use its own config.json"
            )
        state = {key.removeprefix(f"{weight}."): source.get_tensor(key) for key in statistics[weight]}
        if fault := statistics_fault(state, (linear.out_features, linear.in_features)):
            raise PolicyError(f"{path}: {weight}: {fault}; fetch the file again")
        replace(skeleton, layer, packed_linear(linear, data, state))
        consumed |= {weight, *statistics[weight]}
    return consumed


def _pack(skeleton: nn.Module, layer: str, rows: Any, device: str, path: Path) -> None:
    """Quantise a layer's rows, and replace the skeleton's layer by the packed one."""
    linear = _part(skeleton, layer, path)
    assert isinstance(linear, nn.Linear), "linears_to_pack names nothing else"
    shape, found = (linear.out_features, linear.in_features), tuple(rows.get_shape())
    if found != shape:
        raise PolicyError(f"{path}: {layer}.weight is {found}, this model needs {shape}")
    data, state = quantize_weight(rows, shape, linear.weight.dtype, device)
    replace(skeleton, layer, packed_linear(linear, data, state.as_dict(packed=True)))


def _keep_on_host(skeleton: nn.Module, layer: str, name: str, path: Path) -> None:
    """Replace an embedding of the skeleton by one that reads its rows from the file."""
    embedding = _part(skeleton, layer, path)
    assert isinstance(embedding, nn.Embedding), f"{layer} is {type(embedding).__name__}"
    with opened(path) as source:
        table = source.get_tensor(name)
    _require_shape(path, name, table, embedding.weight)
    replace(skeleton, layer, HostEmbedding(table.to(embedding.weight.dtype)))


def _require_shape(path: Path, name: str, value: Tensor, place: Tensor) -> None:
    if place.shape != value.shape:
        raise PolicyError(f"{path}: {name} is {tuple(value.shape)}, this model needs {tuple(place.shape)}")


def _part(skeleton: nn.Module, name: str, path: Path) -> nn.Module:
    try:
        return skeleton.get_submodule(name)
    except AttributeError:
        raise PolicyError(
            f"{path}: {name} is not in this model; use the config.json of these weights"
        ) from None


def _assign(skeleton: nn.Module, name: str, value: Tensor, path: Path) -> None:
    parent, _, last = name.rpartition(".")
    part = _part(skeleton, parent, path)
    place = part._parameters.get(last, part._buffers.get(last))
    if place is None:
        raise PolicyError(f"{path}: {name} is not in this model; use the config.json of these weights")
    _require_shape(path, name, value, place)
    value = value.to(place.dtype)
    if last in part._buffers:
        part._buffers[last] = value
    else:
        part._parameters[last] = nn.Parameter(value, requires_grad=False)


def _move_buffers(skeleton: nn.Module, device: str) -> None:
    for part in skeleton.modules():
        for name, buffer in part._buffers.items():
            if buffer is not None and not buffer.is_meta:
                part._buffers[name] = buffer.to(torch.device(device))


def _values(module: nn.Module) -> list[tuple[str, Tensor]]:
    return [*module.named_parameters(), *module.named_buffers()]
