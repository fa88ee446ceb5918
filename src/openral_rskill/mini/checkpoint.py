"""A `mini` checkpoint on disk: `config.json` and `model.safetensors` (bf16)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from openral_core.errors import PolicyError
from openral_core.files.atomic import write_atomically
from openral_core.files.json_file import read_json_object
from openral_rskill.mini import CONFIG, WEIGHTS
from openral_rskill.weights_writing import replaced_weights

MADE_OF = "made_of"
"""Key in the header of the weights file whose value is `metadata` as JSON."""
NetworkT = TypeVar("NetworkT", bound=nn.Module)


def load_network(folder: Path, make: Callable[..., NetworkT]) -> NetworkT:
    """Build the network that `config.json` describes and load its weights, as float32.

    Args:
        folder: of the checkpoint.
        make: builds the network from the fields of config.json, without `family`, as keyword arguments.

    Raises:
        PolicyError: a file is missing or does not fit the network.
    """
    try:
        content = read_json_object(folder / CONFIG, PolicyError)
        if content.pop("family", None) != "mini":
            raise PolicyError(f"{folder / CONFIG}: family is not mini")
        values = {name: value.float() for name, value in load_file(folder / WEIGHTS).items()}
        _require_fit(make, content, values)
        network = make(**content)
        network.load_state_dict(values)
    except (OSError, ValueError, TypeError, AttributeError, RuntimeError, SafetensorError) as error:
        raise PolicyError(f"{folder}: not a checkpoint of this mini network ({error})") from error
    return network


def _require_fit(
    make: Callable[..., nn.Module], content: dict[str, Any], values: Mapping[str, Tensor]
) -> None:
    """Check that config.json describes the network of the weights, before one of its size takes memory.

    Tensors on the meta device take none, but their layers do.

    Raises:
        ValueError: it describes another.
    """
    with torch.device("meta"), _AtMost(2 * len(values) + 100):
        wanted = {name: value.shape for name, value in make(**content).state_dict().items()}
    for name in sorted({*wanted, *values}):
        found = tuple(values[name].shape) if name in values else "not there"
        needed = tuple(wanted[name]) if name in wanted else "not there"
        if found != needed:
            raise ValueError(f"{name} is {found} in {WEIGHTS}, {needed} by {CONFIG}")


class _AtMost(TorchFunctionMode):
    """A context in which a network gets at most so many tensors, of this thread."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._left = most

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Call a function of torch; each layer gets its weight from `torch.empty`."""
        self._left -= func is torch.empty
        if self._left < 0:
            raise ValueError(f"{CONFIG} describes more tensors than {WEIGHTS} has")
        return func(*args, **(kwargs or {}))


def save_network(network: nn.Module, config: Any, folder: Path, metadata: dict[str, str]) -> None:
    """Write a checkpoint, with weights in bf16 and buffers (statistics of the data) in float32.

    Args:
        network: any module.
        config: dataclass with the fields of config.json.
        folder: made if it does not exist.
        metadata: provenance of the weights, for the header of the file; see `read_metadata`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    fields = {"family": "mini", **asdict(config)}
    write_atomically(folder / CONFIG, json.dumps(fields, indent=2) + "\n")
    buffers = {name for name, _ in network.named_buffers()}
    tensors = {
        name: value.to(torch.float32 if name in buffers else torch.bfloat16).contiguous()
        for name, value in network.state_dict().items()
    }
    # A single entry, since safetensors writes several in a varying order, which would change the hash of the file.
    with replaced_weights(folder / WEIGHTS) as partial:
        save_file(tensors, partial, metadata={MADE_OF: json.dumps(metadata, sort_keys=True)})


def read_metadata(path: Path) -> dict[str, str]:
    """Return the provenance in the header of a weights file; empty if there is none."""
    with safe_open(path, "np") as file:
        found = json.loads((file.metadata() or {}).get(MADE_OF, "{}"))
    return {str(name): str(value) for name, value in found.items()}
