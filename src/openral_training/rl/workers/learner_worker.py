"""One process of a distributed update, whose result equals that of a single process up to rounding.

Every process iterates over the same minibatches in the same order and evaluates its share of each. The evaluations are
gathered, so every process has the loss and the metrics of the whole minibatch. Gradients flow through the process's own
share alone and are summed by torch's DistributedDataParallel.
"""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils._pytree import tree_map_only

from openral_benchmark.workers.worker import Launcher
from openral_training.devices import backend_for, device_name, own_device
from openral_training.rl.algorithm.batch import Batch
from openral_training.rl.algorithm.ppo import Learner
from openral_training.rl.policies.policy import PolicyEvaluation, StochasticPolicy
from openral_training.rl.settings.actor import Optim
from openral_training.rl.settings.algorithm import Grpo, Ppo

RENDEZVOUS_S = 600.0
"""[s] that a process waits for the others to join, and in any collective operation."""


@dataclass(frozen=True)
class LearnerInit:
    """The arguments from which each process constructs its learner."""

    base: StochasticPolicy
    """The initial policy."""
    network: dict[str, Any]
    """State of the current policy."""
    optimiser: dict[str, Any]
    """State of the optimiser."""
    algorithm: Grpo | Ppo
    optim: Optim
    minibatch_size: int


class LearnerWorker:
    """A worker that keeps policy and optimiser from update to update."""

    def __init__(self, init: LearnerInit, launcher: Launcher, number: int, size: int) -> None:
        """Keep the arguments; the message `join` makes the learner.

        Args:
            init: the same for all processes.
            launcher: has the machine's address and device.
            number: of this process, from 0: its rank among the learners.
            size: how many there are.
        """
        torch.set_num_threads(1)
        self._init, self._launcher, self._number, self._size = init, launcher, number, size
        self._listener: socket.socket | None = None
        self._learner: Learner | None = None

    def __call__(self, message: tuple[str, Any]) -> Any:
        """Execute a message, which is a command and its data.

        `address` opens the socket of the rendezvous and returns its host and port, `join` takes them and joins the
        other processes, `update` takes the arguments of `Learner.update`.
        """
        what, data = message
        if what == "address":
            self._listener = socket.create_server((self._launcher.host(), 0))
            return self._listener.getsockname()[:2]
        if what == "join":
            return self._join(*data)
        return self._update(*data)

    def close(self) -> None:
        """Leave the process group."""
        if dist.is_initialized():
            dist.destroy_process_group()

    def _join(self, host: str, port: int) -> None:
        """Join the process group at an address where the first process listens, and make the learner."""
        timeout, init = timedelta(seconds=RENDEZVOUS_S), self._init
        device = own_device(self._launcher.device, self._number)
        if host.startswith("127."):
            os.environ["GLOO_SOCKET_IFNAME"] = "lo"  # else Gloo uses the address of the machine's host name
        listening = None if self._listener is None else self._listener.detach()
        store = dist.TCPStore(  # type: ignore[attr-defined]
            host, port, self._size, self._number == 0, timeout, master_listen_fd=listening
        )
        if device != "cpu":
            torch.cuda.set_device(device)
        store.set(f"device {self._number}", device_name(device))
        names = [store.get(f"device {number}").decode() for number in range(self._size)]
        backend = backend_for(names)
        dist.init_process_group(
            backend, store=store, rank=self._number, world_size=self._size, timeout=timeout
        )
        init.base.network.to(device)
        has_critic = init.optim.value_lr is not None
        # Without a critic in the loss, DistributedDataParallel would wait for the critic's gradients.
        for parameter in init.base.critic_parameters():
            parameter.requires_grad_(has_critic)
        evaluate = ShardedEvaluation(init.base, self._number, self._size)
        self._learner = Learner(init.base, init.algorithm, init.optim, init.minibatch_size, evaluate)
        self._learner.policy.network.load_state_dict(init.network)
        self._learner.optimiser.load_state_dict(init.optimiser)

    def _update(self, batch: Batch, number: int, seed: int) -> Any:
        """Update, and return the metrics; the first process also returns the state of network and optimiser."""
        if self._learner is None:
            raise RuntimeError("update: the process has not joined the others")
        device = own_device(self._launcher.device, self._number)
        metrics = self._learner.update(batch.to(device), number, seed)
        if self._number:
            return metrics, None
        states = self._learner.policy.network.state_dict(), self._learner.optimiser.state_dict()
        return metrics, tree_map_only(Tensor, Tensor.cpu, states)


class _Evaluation(nn.Module):
    """A policy's `evaluate` as the forward pass of a module, which DistributedDataParallel can wrap."""

    def __init__(self, policy: StochasticPolicy) -> None:
        super().__init__()
        self.network, self._policy = policy.network, policy

    def forward(self, observations: Tensor, tokens: Tensor) -> tuple[Tensor, ...]:
        evaluation = self._policy.evaluate(observations, tokens)
        return tuple(getattr(evaluation, field.name) for field in fields(evaluation))


class ShardedEvaluation:
    """Evaluates a minibatch together with the other processes: each evaluates its rows, and all get every row."""

    def __init__(self, policy: StochasticPolicy, number: int, size: int) -> None:
        """Wrap a policy.

        Args:
            policy: the same in all processes.
            number: of this process.
            size: how many there are.
        """
        self._number, self._size = number, size
        self._evaluation = DistributedDataParallel(_Evaluation(policy))

    def __call__(self, observations: Tensor, tokens: Tensor) -> PolicyEvaluation:
        """Evaluate a minibatch whose rows are the same in all processes."""
        parts = torch.arange(len(tokens)).tensor_split(self._size)
        own = parts[self._number]
        # Some networks do not accept an empty batch, so a process without rows evaluates one row and drops it.
        rows = own if len(own) else torch.zeros(1, dtype=torch.long)
        evaluated = self._evaluation(observations[rows], tokens[rows])
        lengths = [len(part) for part in parts]
        return PolicyEvaluation(*(self._gather(share[: len(own)], lengths) for share in evaluated))

    def _gather(self, share: Tensor, lengths: list[int]) -> Tensor:
        """Return the rows of all processes; only this process's own carry gradients."""
        share = share.contiguous()
        if share.requires_grad:
            # DistributedDataParallel averages gradients over processes, but the update needs their sum.
            share.register_hook(lambda gradient: gradient * self._size)  # type: ignore[no-untyped-call]
        rows = [
            share if number == self._number else share.new_empty((length, *share.shape[1:]))
            for number, length in enumerate(lengths)
        ]
        for number, part in enumerate(rows):
            dist.broadcast(part.detach(), number)
        return torch.cat(rows)
