"""Starts rollout workers and learners according to a config's `cluster.component_placement`."""

from __future__ import annotations

from pathlib import Path

from openral_benchmark.workers.process_launcher import ProcessLauncher
from openral_benchmark.workers.worker import Launcher
from openral_training.rl.algorithm.ppo import Learner
from openral_training.rl.config import RlConfig
from openral_training.rl.envs.env_group import VecEnvSpec
from openral_training.rl.policies.policy import StochasticPolicy
from openral_training.rl.settings.cluster import Cluster
from openral_training.rl.workers.learners import DistributedLearner, Learners, LocalLearner
from openral_training.rl.workers.rollout_workers import (
    LocalRollout,
    RolloutPool,
    RolloutWorkers,
    open_simulators,
)


def launcher_of(cluster: Cluster, device: str = "cpu") -> Launcher:
    """Return the launcher of a run's processes.

    Args:
        cluster: of the run.
        device: torch device of networks in this machine's processes; on a Ray cluster `gpus_per_rank` decides.

    Raises:
        InstallationError: Ray is not installed, the cluster does not answer, or it has too few resources.
    """
    if cluster.placement == "local":
        return ProcessLauncher(device=device)
    from openral_training.rl.workers.ray_placement import PlacementGroupLauncher

    return PlacementGroupLauncher(cluster)


def open_rollout(
    config: RlConfig, vec_env_spec: VecEnvSpec, policy: StochasticPolicy, launcher: Launcher
) -> RolloutWorkers:
    """Start the rollout workers, with all environments."""
    cluster = config.cluster
    if not cluster.rollout_apart:
        return LocalRollout(open_simulators(vec_env_spec, launcher, cluster.env_ranks))
    return RolloutPool(policy, vec_env_spec, launcher, cluster.ranks("rollout"), cluster.env_ranks)


def open_training_rollout(config: RlConfig, real: RolloutWorkers, policy: StochasticPolicy) -> RolloutWorkers:
    """Return the rollout workers of training: those of the simulator, or one with a world model's environments.

    Raises:
        OpenralError: the world model cannot be loaded, does not fit the policy, or was trained on a state of the
            evaluations.
    """
    folder = config.env.train.world_model
    if folder is None:
        return real
    from openral_training.rl.envs.world_model_simulator import WorldModelSimulator

    held_out = config.env.eval.init_ids.ids()
    return LocalRollout(WorldModelSimulator(real.vec_env_spec, Path(folder), policy.chunk, held_out))


def open_learners(config: RlConfig, learner: Learner, launcher: Launcher, device: str = "cpu") -> Learners:
    """Return the learners of a run.

    Args:
        config: of the run.
        learner: the command's own, which must still have the initial policy.
        launcher: starts processes.
        device: torch device of the command's own policy.
    """
    if not config.cluster.learners_apart:
        return LocalLearner(learner, device)
    actor = config.actor
    ranks = config.cluster.ranks("actor")
    return DistributedLearner(
        learner, launcher, ranks, config.algorithm, actor.optim, actor.global_batch_size
    )
