"""The rollout workers and learners of a run, each where its placement says."""

from __future__ import annotations

from pathlib import Path

from openral_benchmark.workers.process_launcher import ProcessLauncher
from openral_benchmark.workers.worker import Launcher
from openral_training.rl.algorithm.ppo import Learner
from openral_training.rl.config import RlConfig
from openral_training.rl.envs.simulators import VecEnvSpec
from openral_training.rl.policies.policy import StochasticPolicy
from openral_training.rl.settings.cluster import Cluster
from openral_training.rl.workers.learners import DistributedLearner, Learners, LocalLearner
from openral_training.rl.workers.rollout_workers import (
    LocalRollout,
    RolloutPool,
    RolloutWorkers,
    open_worlds,
)


def launcher_of(cluster: Cluster, device: str = "cpu") -> Launcher:
    """Return what starts a run's processes.

    Args:
        cluster: of the run.
        device: where networks of this machine's processes are; on a Ray cluster `gpus_per_rank` says it.

    Raises:
        InstallationError: there is no Ray, or no such cluster, or too little room on it.
    """
    if cluster.placement == "local":
        return ProcessLauncher(device=device)
    from openral_training.rl.workers.ray_placement import PlacementGroupLauncher

    return PlacementGroupLauncher(cluster)


def open_rollout(
    config: RlConfig, vec_env_spec: VecEnvSpec, policy: StochasticPolicy, launcher: Launcher
) -> RolloutWorkers:
    """Start the rollout workers, with all worlds."""
    cluster = config.cluster
    if not cluster.rollout_apart:
        return LocalRollout(open_worlds(vec_env_spec, launcher, cluster.env_ranks))
    return RolloutPool(policy, vec_env_spec, launcher, cluster.ranks("rollout"), cluster.env_ranks)


def open_training_rollout(config: RlConfig, real: RolloutWorkers, policy: StochasticPolicy) -> RolloutWorkers:
    """Return what makes the experience: rollout workers of the simulator, or one that has imagined worlds.

    Raises:
        OpenralError: the world model cannot be loaded, or does not fit the policy.
    """
    folder = config.env.train.world_model
    if folder is None:
        return real
    from openral_training.rl.envs.world_model_simulator import WorldModelSimulator

    return LocalRollout(WorldModelSimulator(real.vec_env_spec, Path(folder), policy.chunk))


def open_learners(config: RlConfig, learner: Learner, launcher: Launcher, device: str = "cpu") -> Learners:
    """Return what learns; `learner`, the command's own, must still have the policy that the run began with.

    Args:
        config: of the run.
        learner: the command's own.
        launcher: starts processes.
        device: where the command's own policy is.
    """
    if not config.cluster.learners_apart:
        return LocalLearner(learner, device)
    actor = config.actor
    ranks = config.cluster.ranks("actor")
    return DistributedLearner(
        learner, launcher, ranks, config.algorithm, actor.optim, actor.global_batch_size
    )
