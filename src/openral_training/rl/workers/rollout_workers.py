"""The component `rollout`: it lets the policy act, in the command's process or in others.

A rollout worker has a share of the worlds, in its own process or in processes that it starts by itself, so only
attempts, weights and trajectories pass between it and the command. What an attempt becomes depends on itself and the
weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_map_only

from openral_benchmark.workers.restarting_worker import RestartingWorkers
from openral_benchmark.workers.worker import Launcher, WorkerHandle
from openral_training.devices import own_device
from openral_training.rl.envs.attempts import EpisodeRequest, Trajectory
from openral_training.rl.envs.rollout import exploring, greedy, rollout
from openral_training.rl.envs.simulators import InProcess, Simulators, VecEnvSpec
from openral_training.rl.policies.policy import StochasticPolicy
from openral_training.rl.workers.world_pool import WorldPool

TIMEOUT_S = 3600.0
"""[s] that a rollout worker may take for its attempts of one round; one that dies is noticed at once."""


@dataclass(frozen=True)
class SamplingMode:
    """How a policy acts."""

    explores: bool
    """By chance; else at its best."""
    correlation: float = 0.0
    """Of the noise from one decision to the next, see `noise`."""


GREEDY = SamplingMode(explores=False)


class LocalRollout:
    """Rollout in this process."""

    def __init__(self, simulators: Simulators) -> None:
        """Take over worlds.

        Args:
            simulators: all of them.
        """
        self._simulators = simulators

    @property
    def vec_env_spec(self) -> VecEnvSpec:
        """All worlds."""
        return self._simulators.vec_env_spec

    @property
    def replaced(self) -> int:
        """How many processes of worlds were lost and started anew."""
        return self._simulators.replaced

    def rollout(
        self, policy: StochasticPolicy, attempts: Sequence[EpisodeRequest], mode: SamplingMode
    ) -> list[Trajectory]:
        """Run attempts and return their trajectories in the same order. Raises as `envs.rollout.rollout`."""
        decide = exploring(policy) if mode.explores else greedy(policy)
        return rollout(
            self._simulators, decide, attempts, action_dim=policy.action_dim, correlation=mode.correlation
        )

    def close(self) -> None:
        """Free the worlds."""
        self._simulators.close()


def open_worlds(vec_env_spec: VecEnvSpec, launcher: Launcher, ranks: Sequence[int]) -> Simulators:
    """Build worlds at ranks of their own, or in this process where there are none."""
    return WorldPool(vec_env_spec, launcher, ranks) if ranks else InProcess(vec_env_spec)


class RolloutWorker:
    """A worker that lets the policy act in its share of the worlds."""

    def __init__(
        self,
        policy: StochasticPolicy,
        vec_env_spec: VecEnvSpec,
        launcher: Launcher,
        ranks: Sequence[int],
        number: int = 0,
    ) -> None:
        """Build its worlds.

        Args:
            policy: of the run; weights come with each message.
            vec_env_spec: its share.
            launcher: starts processes of worlds.
            ranks: for them; none: they are in this process.
            number: of this process among the rollout workers; they take the machine's GPUs in turn.
        """
        torch.set_num_threads(1)  # as the command does
        policy.network.to(own_device(launcher.device, number))
        self._policy, self._local = policy, LocalRollout(open_worlds(vec_env_spec, launcher, ranks))

    def __call__(self, message: tuple[dict[str, Any], Sequence[EpisodeRequest], SamplingMode]) -> Any:
        """Run attempts, and return the trajectories and how many processes of worlds were replaced meanwhile."""
        weights, attempts, mode = message
        before = self._local.replaced
        self._policy.network.load_state_dict(weights)
        return self._local.rollout(self._policy, attempts, mode), self._local.replaced - before

    def close(self) -> None:
        """Free the worlds."""
        self._local.close()


class RolloutPool(RestartingWorkers):
    """Rollout in processes of their own. One that is lost is replaced, and what it had to do is done again."""

    def __init__(
        self,
        policy: StochasticPolicy,
        vec_env_spec: VecEnvSpec,
        launcher: Launcher,
        ranks: Sequence[int],
        env_ranks: Sequence[int],
    ) -> None:
        """Start them.

        Args:
            policy: of the run.
            vec_env_spec: all worlds; each process has as many.
            launcher: starts the processes.
            ranks: where, one a process.
            env_ranks: of worlds apart from them, as many for each; none: each process has its worlds in it.
        """
        self.vec_env_spec = vec_env_spec
        count, each = len(ranks), len(env_ranks) // len(ranks)
        share = vec_env_spec.part(count)
        self._worlds_replaced = 0

        def start(number: int) -> WorkerHandle:
            mine = list(env_ranks[number * each : (number + 1) * each])
            return launcher.start(
                "rollout", ranks[number], RolloutWorker, policy, share, launcher, mine, number
            )

        super().__init__(count, start, "players", TIMEOUT_S)

    @property
    def replaced(self) -> int:
        """How many processes were lost and started anew, those of worlds included."""
        return super().replaced + self._worlds_replaced

    def rollout(
        self, policy: StochasticPolicy, attempts: Sequence[EpisodeRequest], mode: SamplingMode
    ) -> list[Trajectory]:
        """Share attempts out among the processes, and return the trajectories in the order of the attempts."""
        count, weights = len(self), tree_map_only(Tensor, Tensor.cpu, policy.network.state_dict())
        self.begin()
        for number, worker in enumerate(self):
            worker.send((weights, attempts[number::count], mode))
        found: dict[int, Trajectory] = {}
        for number, worker in enumerate(self):
            trajectories, replaced = worker.receive()
            self._worlds_replaced += replaced
            found |= zip(range(number, len(attempts), count), trajectories, strict=True)
        return [found[number] for number in range(len(attempts))]


RolloutWorkers = LocalRollout | RolloutPool
"""Lets a policy act in all worlds of a run, wherever they are."""
