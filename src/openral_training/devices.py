"""The torch device of a training, and the backend between several devices."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from openral_core.errors import InstallationError

if TYPE_CHECKING:
    import torch


class Device(str, Enum):
    """Values of the option `--device`."""

    auto = "auto"
    cpu = "cpu"
    cuda = "cuda"

    def __str__(self) -> str:
        """Return the value, which is what messages name; Python 3.11 and later would print `Device.cuda`."""
        return str(self.value)


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
    """Return the autocast context of a training: bfloat16 where the device computes it fast, else float32.

    A processor without AVX-512 emulates bfloat16 convolutions: a step of a `mini` policy took 2.7 s so on an AVX2 core,
    and 0.23 s in float32.
    """
    import torch

    fast = device != Device.cpu or torch.backends.cpu.get_cpu_capability().startswith("AVX512")
    return torch.autocast(device, torch.bfloat16, enabled=fast)


def own_device(device: str, number: int) -> str:
    """Return the device of the process of this number: GPUs that are visible to it are assigned in turn.

    On a Ray cluster only its own GPU is visible to a process.
    """
    import torch

    return f"cuda:{number % torch.cuda.device_count()}" if device == Device.cuda else device


def device_name(device: str) -> str:
    """Return `cpu`, or the UUID of a GPU."""
    import torch

    return "cpu" if device == Device.cpu else str(torch.cuda.get_device_properties(device).uuid)


def backend_for(devices: Sequence[str]) -> str:
    """Return torch.distributed's backend for processes on these devices, one name for each process.

    It is NCCL where each process has a GPU of its own, which NCCL requires, else gloo.

    Args:
        devices: as returned by `device_name`.
    """
    return "nccl" if len(set(devices)) == len(devices) and "cpu" not in devices else "gloo"
