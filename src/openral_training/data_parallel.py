"""One training run in several processes, as `torchrun` starts them: each goes through its share of every batch.

All processes draw the same batches in the same order. Each weights the loss of its share so that the losses of all of
them add up to that of the whole batch; with torch's DistributedDataParallel all then have the whole batch's gradient,
and take the steps of one process alone, up to rounding. The first one writes files and speaks for all.
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
"""Longest wait for each other, while the first process decodes a dataset. Where one dies, torchrun ends the others."""


@dataclass(frozen=True)
class TrainingProcess:
    """This process among those of a run."""

    device: str
    """Where its network is."""
    rank: int = 0
    size: int = 1
    """How many processes there are."""

    @property
    def leads(self) -> bool:
        """Whether it is the one that writes files and speaks."""
        return self.rank == 0

    def share(self, count: int) -> slice:
        """Return which rows of a batch are this process's; they differ by one row at most from another's.

        Raises:
            ContractError: there are fewer rows than processes.
        """
        if count < self.size:
            raise ContractError(
                f"a batch of {count} rows is too small for {self.size} processes; start at most {count}"
            )
        return slice(count * self.rank // self.size, count * (self.rank + 1) // self.size)

    def parallel(self, network: nn.Module) -> nn.Module:
        """Return what the forward pass is to go through, so that gradients become their mean over processes."""
        return network if self.size == 1 else DistributedDataParallel(network)

    def total(self, value: Tensor) -> float:
        """Return the sum of one number of each process."""
        found = value.detach().clone()
        if self.size > 1:
            dist.all_reduce(found)
        return float(found)

    @contextmanager
    def first(self) -> Iterator[None]:
        """Let the leading process do something before the others do it, such as writing a file that all read."""
        if self.size > 1 and not self.leads:
            dist.barrier()
        yield
        if self.size > 1 and self.leads:
            dist.barrier()

    def leave(self) -> None:
        """Part from the others."""
        if self.size > 1:
            dist.destroy_process_group()


def leads() -> bool:
    """Return whether this process is the one that speaks: not one of torchrun's others."""
    return not dist.is_torchelastic_launched() or os.environ["RANK"] == "0"


def require_one_process(command: str, instead: str) -> None:
    """Refuse to be one of several processes of torchrun, each of which would do the same work into the same folder.

    Args:
        command: what was started, in the user's words.
        instead: what to do.

    Raises:
        ContractError: there are several.
    """
    if dist.is_torchelastic_launched() and int(os.environ["WORLD_SIZE"]) > 1:
        raise ContractError(f"{command} does not share its work under torchrun; {instead}")


def join(device: str) -> TrainingProcess:
    """Meet the other processes that torchrun has started; without torchrun there are none.

    Args:
        device: auto, or a torch device; the GPUs of a machine are taken in turn.

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
        )  # else gloo listens where the machine's name points to
    backend = backend_for([device_name(own_device(device, number)) for number in range(here)])
    dist.init_process_group(backend, timeout=WAIT)
    return TrainingProcess(own_device(device, int(os.environ["LOCAL_RANK"])), dist.get_rank(), size)
