"""The component `rollout`: the policy acts in the environments, in the command's process or in others.

A rollout worker has a share of the environments, in its own process or in processes that it starts, so only requests,
weights and trajectories are sent between it and the command. A trajectory depends on its request and the weights alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils._pytree import tree_map_only

from openral_benchmark.workers.restarting_worker import RestartingWorkers
from openral_benchmark.workers.worker import Launcher, WorkerHandle
from openral_training.devices import own_device
from openral_training.rl.envs.env_group import InProcess, Simulators, VecEnvSpec
from openral_training.rl.envs.episode_trajectory import EpisodeRequest, Trajectory
from openral_training.rl.envs.rollout import exploring, greedy, rollout
from openral_training.rl.policies.policy import StochasticPolicy
from openral_training.rl.workers.env_pool import EnvPool

TIMEOUT_S = 3600.0
"""[s] that a rollout worker may take for its episodes of one round; the death of a worker is noticed at once."""


@dataclass(frozen=True)
class SamplingMode:
    """How a policy acts in a rollout."""

    explores: bool
    """Whether it samples its actions; otherwise it takes the likeliest ones."""
    correlation: float = 0.0
    """Correlation of the noise in time, see `EpisodeNoise`."""
    final_values: bool = False
    """Whether the `final_value` of truncated trajectories is computed, which PPO needs."""


GREEDY = SamplingMode(explores=False)


class LocalRollout:
    """Rollouts in this process."""

    def __init__(self, simulators: Simulators) -> None:
        """Take over environments.

        Args:
            simulators: all environments of the rollouts; `close` closes them.
        """
        self._simulators = simulators

    @property
    def vec_env_spec(self) -> VecEnvSpec:
        """All environments."""
        return self._simulators.vec_env_spec

    @property
    def replaced(self) -> int:
        """Number of processes of environments that were lost and replaced."""
        return self._simulators.replaced

    def rollout(
        self, policy: StochasticPolicy, requests: Sequence[EpisodeRequest], mode: SamplingMode
    ) -> list[Trajectory]:
        """Run episodes; return trajectories in the order of the requests. Raises like `envs.rollout.rollout`."""
        decide = exploring(policy) if mode.explores else greedy(policy)
        trajectories = rollout(
            self._simulators, decide, requests, action_dim=policy.action_dim, correlation=mode.correlation
        )
        if mode.final_values:
            return with_final_values(trajectories, policy, self.vec_env_spec.num_envs)
        return trajectories

    def close(self) -> None:
        """Close the environments."""
        self._simulators.close()


def with_final_values(
    trajectories: Sequence[Trajectory], policy: StochasticPolicy, rows: int
) -> list[Trajectory]:
    """Return trajectories, those that were truncated with the critic's value of the last observation.

    Args:
        trajectories: of this policy.
        policy: that has the critic.
        rows: most observations that are evaluated at once.
    """
    found = list(trajectories)
    truncated = [number for number, trajectory in enumerate(found) if not trajectory.terminated]
    for first in range(0, len(truncated), rows):
        part = truncated[first : first + rows]
        values = policy.values(np.stack([found[number].last_observation for number in part]))
        for number, value in zip(part, values[:, 0], strict=True):
            found[number] = replace(found[number], final_value=float(value))
    return found


def open_simulators(vec_env_spec: VecEnvSpec, launcher: Launcher, ranks: Sequence[int]) -> Simulators:
    """Build environments in processes at these ranks, or in this process where there are none."""
    return EnvPool(vec_env_spec, launcher, ranks) if ranks else InProcess(vec_env_spec)


class RolloutWorker:
    """A worker in which the policy acts in a share of the environments."""

    def __init__(
        self,
        policy: StochasticPolicy,
        vec_env_spec: VecEnvSpec,
        launcher: Launcher,
        ranks: Sequence[int],
        number: int = 0,
    ) -> None:
        """Build the environments.

        Args:
            policy: of the run; its weights are sent with each message.
            vec_env_spec: this worker's share of the environments.
            launcher: starts processes of environments.
            ranks: of these processes; none: the environments are in this process.
            number: of this process among the rollout workers, which take the machine's GPUs in turn.
        """
        torch.set_num_threads(1)  # as in the command's process
        policy.network.to(own_device(launcher.device, number))
        self._policy, self._local = policy, LocalRollout(open_simulators(vec_env_spec, launcher, ranks))

    def __call__(self, message: tuple[dict[str, Any], Sequence[EpisodeRequest], SamplingMode]) -> Any:
        """Run episodes; return trajectories, and how many processes of environments were replaced in the meantime."""
        weights, requests, mode = message
        before = self._local.replaced
        self._policy.network.load_state_dict(weights)
        return self._local.rollout(self._policy, requests, mode), self._local.replaced - before

    def close(self) -> None:
        """Close the environments."""
        self._local.close()


class RolloutPool(RestartingWorkers):
    """Rollouts in processes of their own. One that is lost is replaced and runs its requests again."""

    def __init__(
        self,
        policy: StochasticPolicy,
        vec_env_spec: VecEnvSpec,
        launcher: Launcher,
        ranks: Sequence[int],
        env_ranks: Sequence[int],
    ) -> None:
        """Start the processes.

        Args:
            policy: of the run.
            vec_env_spec: all environments; each process gets an equal share.
            launcher: starts the processes.
            ranks: of rollout workers, one for each process.
            env_ranks: of environments in processes of their own, an equal number for each rollout worker; none: they
                are in the rollout workers' processes.
        """
        self.vec_env_spec = vec_env_spec
        count, envs_each = len(ranks), len(env_ranks) // len(ranks)
        share = vec_env_spec.part(count)
        self._envs_replaced = 0

        def start(number: int) -> WorkerHandle:
            own_env_ranks = list(env_ranks[number * envs_each : (number + 1) * envs_each])
            return launcher.start(
                "rollout", ranks[number], RolloutWorker, policy, share, launcher, own_env_ranks, number
            )

        super().__init__(count, start, "rollout workers", TIMEOUT_S)

    @property
    def replaced(self) -> int:
        """Number of processes that were lost and replaced, including those of environments."""
        return super().replaced + self._envs_replaced

    def rollout(
        self, policy: StochasticPolicy, requests: Sequence[EpisodeRequest], mode: SamplingMode
    ) -> list[Trajectory]:
        """Distribute requests over the processes and return the trajectories in the order of the requests."""
        count, weights = len(self), tree_map_only(Tensor, Tensor.cpu, policy.network.state_dict())
        self.begin()
        for number, worker in enumerate(self):
            worker.send((weights, requests[number::count], mode))
        found: dict[int, Trajectory] = {}
        for number, worker in enumerate(self):
            trajectories, replaced = worker.receive()
            self._envs_replaced += replaced
            found |= zip(range(number, len(requests), count), trajectories, strict=True)
        return [found[number] for number in range(len(requests))]


RolloutWorkers = LocalRollout | RolloutPool
"""Runs episodes in all environments of a run, in the command's process or in others."""
