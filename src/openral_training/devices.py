"""Which device computes while a network is trained."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from openral_core.errors import InstallationError

if TYPE_CHECKING:
    import torch


class Device(str, Enum):
    """What a command may be told."""

    auto = "auto"
    cpu = "cpu"
    cuda = "cuda"


DeviceOption = Annotated[
    Device, typer.Option("--device", help="What computes; auto: cuda where torch finds a GPU.")
]


def torch_device(device: str) -> str:
    """Return the device that torch is to use: `auto` becomes `cuda` where there is a GPU, else `cpu`.

    Raises:
        InstallationError: cuda is asked for and torch finds no GPU.
    """
    import torch

    found = torch.cuda.is_available()
    if device == Device.auto:
        return Device.cuda.value if found else Device.cpu.value
    if torch.device(device).type == Device.cuda and not found:
        raise InstallationError(
            f"--device {device}: torch {torch.__version__} finds no GPU here; write --device cpu"
        )
    return device


def mixed_precision(device: str) -> torch.autocast:
    """Return the context in which networks are trained: bfloat16 products where the device is fast at them.

    A processor without AVX-512 emulates bfloat16 convolutions: a step of a `mini` policy took 2.7 s so on an AVX2 core,
    and 0.23 s in float32.
    """
    import torch

    fast = device != Device.cpu or torch.backends.cpu.get_cpu_capability().startswith("AVX512")
    return torch.autocast(device, torch.bfloat16, enabled=fast)


def own_device(device: str, number: int) -> str:
    """Return the device of one of several processes: the GPUs that it sees are taken in turn.

    On a Ray cluster a process sees its own alone.
    """
    import torch

    return f"cuda:{number % torch.cuda.device_count()}" if device == Device.cuda else device


def device_name(device: str) -> str:
    """Return `cpu`, or the UUID of a GPU, which tells it from all others in the world."""
    import torch

    return "cpu" if device == Device.cpu else str(torch.cuda.get_device_properties(device).uuid)


def backend_for(devices: Sequence[str]) -> str:
    """Return torch.distributed's backend for processes on these devices, one name a process.

    NCCL is for processes that have a GPU each; it refuses two on one, which gloo serves.

    Args:
        devices: as `device_name` says them.
    """
    return "nccl" if len(set(devices)) == len(devices) and "cpu" not in devices else "gloo"
