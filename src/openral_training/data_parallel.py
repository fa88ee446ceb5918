"""Data-parallel training in several processes that `torchrun` starts: each computes its share of every batch.

All processes draw the same batches in the same order. Each weights the loss of its share so that the losses of all
processes add up to that of the whole batch. With torch's DistributedDataParallel each then has the gradient of the
whole batch, and takes the same steps as a single process, up to rounding. The first process alone writes files and
prints.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from openral_core.errors import ContractError
from openral_training.devices import backend_for, device_name, own_device, torch_device

WAIT = timedelta(hours=12)
"""Longest time that processes wait for each other, as while the first one decodes a dataset.

If one dies, torchrun ends the others."""


@dataclass(frozen=True)
class TrainingProcess:
    """This process of a run."""

    device: str
    """Torch device of its network."""
    rank: int = 0
    size: int = 1
    """Number of processes."""

    @property
    def leads(self) -> bool:
        """Whether it is the process that writes files and prints."""
        return self.rank == 0

    def share(self, count: int) -> slice:
        """Return the rows of a batch that this process computes; the shares of two processes differ by one row at most.

        Raises:
            ContractError: there are fewer rows than processes.
        """
        if count < self.size:
            raise ContractError(
                f"a batch of {count} rows is too small for {self.size} processes; start at most {count}"
            )
        return slice(count * self.rank // self.size, count * (self.rank + 1) // self.size)

    def parallel(self, network: nn.Module) -> nn.Module:
        """Return the module to call in place of the network, so that gradients are averaged over processes."""
        return network if self.size == 1 else DistributedDataParallel(network)

    def total(self, value: Tensor) -> float:
        """Return the sum of a scalar over all processes."""
        found = value.detach().clone()
        if self.size > 1:
            dist.all_reduce(found)
        return float(found)

    @contextmanager
    def first(self) -> Iterator[None]:
        """Run the block in the leading process first, and then in the others, as where one writes what all read."""
        if self.size > 1 and not self.leads:
            dist.barrier()
        yield
        if self.size > 1 and self.leads:
            dist.barrier()

    def leave(self) -> None:
        """Leave the process group."""
        if self.size > 1:
            dist.destroy_process_group()


def leads() -> bool:
    """Return whether this process prints: it is the only one, or the first one of torchrun."""
    return not dist.is_torchelastic_launched() or os.environ["RANK"] == "0"


def require_one_process(command: str, instead: str) -> None:
    """Refuse several processes of torchrun, each of which would do the same work in the same folder.

    Args:
        command: the command, as the user writes it.
        instead: what to do instead.

    Raises:
        ContractError: there are several.
    """
    if dist.is_torchelastic_launched() and int(os.environ["WORLD_SIZE"]) > 1:
        raise ContractError(f"{command} does not share its work under torchrun; {instead}")


def join(device: str) -> TrainingProcess:
    """Join the process group of torchrun; without torchrun this is the only process.

    Args:
        device: auto, or a torch device; the GPUs of a machine are assigned in turn.

    Raises:
        InstallationError: torch cannot use the device.
    """
    device = torch_device(device)
    size = int(os.environ["WORLD_SIZE"]) if dist.is_torchelastic_launched() else 1
    if size == 1:
        return TrainingProcess(device)
    here = int(os.environ["LOCAL_WORLD_SIZE"])
    if here == size:
        os.environ.setdefault(
            "GLOO_SOCKET_IFNAME", "lo"
        )  # else gloo uses the address of the machine's host name
    backend = backend_for([device_name(own_device(device, number)) for number in range(here)])
    dist.init_process_group(backend, timeout=WAIT)
    return TrainingProcess(own_device(device, int(os.environ["LOCAL_RANK"])), dist.get_rank(), size)
