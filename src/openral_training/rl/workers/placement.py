"""Players and learners of a run, each where its placement says."""

from __future__ import annotations

from pathlib import Path

from openral_training.rl.algorithm.learner import Learner
from openral_training.rl.config import RlConfig
from openral_training.rl.envs.simulators import Grounds
from openral_training.rl.policies.policy import StochasticPolicy
from openral_training.rl.settings.cluster import Cluster
from openral_training.rl.workers.learners import Learners, LearnerTeam, OneLearner
from openral_training.rl.workers.process_worker import ProcessLauncher
from openral_training.rl.workers.rollout_workers import OnePlayer, PlayerPool, Players, open_worlds
from openral_training.rl.workers.worker_handle import Launcher


def launcher_of(cluster: Cluster) -> Launcher:
    """Return what starts a run's processes.

    Raises:
        InstallationError: there is no Ray, or no such cluster, or too little room on it.
    """
    if cluster.placement == "local":
        return ProcessLauncher()
    from openral_training.rl.workers.ray_worker import RayLauncher

    return RayLauncher(cluster)


def open_players(config: RlConfig, grounds: Grounds, policy: StochasticPolicy, launcher: Launcher) -> Players:
    """Start whoever lets the policy act, with all worlds."""
    cluster = config.cluster
    if not cluster.players_apart:
        return OnePlayer(open_worlds(grounds, launcher, cluster.env_ranks))
    return PlayerPool(policy, grounds, launcher, cluster.ranks("rollout"), cluster.env_ranks)


def open_explorers(config: RlConfig, players: Players, policy: StochasticPolicy) -> Players:
    """Return who makes the experience: the players of the simulator, or one that has imagined worlds.

    Raises:
        OpenralError: the world model cannot be loaded, or does not fit the policy.
    """
    folder = config.env.train.world_model
    if folder is None:
        return players
    from openral_training.world_model.simulator import Imagined

    return OnePlayer(Imagined(players.grounds, Path(folder), policy.chunk))


def open_learners(config: RlConfig, learner: Learner, launcher: Launcher) -> Learners:
    """Return whoever learns; `learner`, the command's own, must still have the policy that the run began with."""
    if not config.cluster.learners_apart:
        return OneLearner(learner)
    actor = config.actor
    ranks = config.cluster.ranks("actor")
    return LearnerTeam(learner, launcher, ranks, config.algorithm, actor.optim, actor.global_batch_size)
