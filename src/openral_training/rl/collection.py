"""Collects the experience of one update: chooses and runs its episodes, and makes the batch."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from openral_training.rl.algorithm.batch import Batch, grpo_batch, ppo_batch
from openral_training.rl.algorithm.groups import in_informative_group
from openral_training.rl.config import RlConfig
from openral_training.rl.envs.episode_trajectory import EpisodeRequest, Trajectory
from openral_training.rl.envs.shaping import ProgressModel
from openral_training.rl.policies.policy import StochasticPolicy
from openral_training.rl.settings.algorithm import Grpo, Ppo
from openral_training.rl.workers.rollout_workers import RolloutWorkers, SamplingMode
from openral_training.training_recipe import drawn_states

TRAINING = 1
"""Second number of the seeds of training episodes; the first is the run's seed."""


@dataclass(frozen=True)
class Collection:
    """The experience of one update."""

    trajectories: list[Trajectory]
    """All episodes that were run."""
    batch: Batch | None
    """The decisions that the update is computed from; None: no group is informative."""
    metrics: dict[str, float]
    """The metrics `rollout/*` and `env/*`."""


def collect(
    workers: RolloutWorkers,
    policy: StochasticPolicy,
    config: RlConfig,
    update: int,
    progress: ProgressModel | None = None,
) -> Collection:
    """Run the episodes of an update and make its batch.

    Args:
        workers: run episodes.
        policy: samples its actions.
        config: of the run.
        update: number of the update, counted from 0; together with the seed it determines all randomness.
        progress: reward model whose differences of progress are added to the rewards; None: success is the only reward.
    """
    if isinstance(config.algorithm, Grpo):
        return _collect_groups(workers, policy, config, config.algorithm, update)
    return _collect_for_critic(workers, policy, config, config.algorithm, update, progress)


def _collect_for_critic(
    workers: RolloutWorkers,
    policy: StochasticPolicy,
    config: RlConfig,
    algorithm: Ppo,
    update: int,
    progress: ProgressModel | None,
) -> Collection:
    """Run one round of episodes for PPO."""
    requests = episode_requests(config, config.env.tasks, update, 0)
    correlation = config.rollout.sampling_params.correlation
    mode = SamplingMode(explores=True, correlation=correlation, final_values=True)
    trajectories = workers.rollout(policy, requests, mode)
    potentials = None if progress is None else progress.potentials(trajectories)
    batch, metrics = ppo_batch(trajectories, algorithm, potentials)
    metrics |= environment_metrics(trajectories)
    if potentials is not None:
        metrics["env/progress"] = float(np.mean([row[-1] for row in potentials]))
    return Collection(trajectories, batch, metrics)


def _collect_groups(
    workers: RolloutWorkers, policy: StochasticPolicy, config: RlConfig, algorithm: Grpo, update: int
) -> Collection:
    """Run rounds of groups for GRPO until each task has enough informative ones, at most `max_rounds`."""
    mode = SamplingMode(explores=True, correlation=config.rollout.sampling_params.correlation)
    trajectories: list[Trajectory] = []
    tasks: Sequence[str] = config.env.tasks
    rounds = 0
    while tasks and rounds < algorithm.max_rounds:
        trajectories += workers.rollout(policy, episode_requests(config, tasks, update, rounds), mode)
        tasks = tasks_short_of_groups(trajectories, config, algorithm)
        rounds += 1
    batch, metrics = grpo_batch(trajectories, algorithm, horizon=config.env.max_episode_steps)
    metrics["rollout/informative_groups"] = float(in_informative_group(trajectories, algorithm).mean())
    metrics["rollout/rounds"] = rounds
    return Collection(trajectories, batch, metrics | environment_metrics(trajectories))


def episode_requests(
    config: RlConfig, tasks: Sequence[str], update: int, round_number: int
) -> list[EpisodeRequest]:
    """Return the episodes of one round: for each task its share of initial states, drawn without repetition.

    Args:
        config: of the run.
        tasks: those of its tasks that take part in the round.
        update: number of the update.
        round_number: of the round in the update, counted from 0.
    """
    group_size = config.algorithm.group_size if isinstance(config.algorithm, Grpo) else 1
    init_ids, groups_a_task = config.env.train.init_ids.ids(), config.episodes_a_task // group_size
    keep_images = config.reward is not None
    requests: list[EpisodeRequest] = []
    for index, task in enumerate(config.env.tasks):
        if task not in tasks:
            continue
        key = (config.actor.seed, TRAINING, update, round_number, index)
        rng = np.random.default_rng(list(key))
        order: deque[int] = deque()
        for place in range(groups_a_task):
            order = order or deque(drawn_states(init_ids, groups_a_task, rng))
            init_id = order.popleft()
            group = (round_number * len(config.env.tasks) + index) * groups_a_task + place
            requests += [
                EpisodeRequest(task, init_id, (*key, place, member), group, keep_images)
                for member in range(group_size)
            ]
    return requests


def tasks_short_of_groups(trajectories: Sequence[Trajectory], config: RlConfig, algorithm: Grpo) -> list[str]:
    """Return the tasks with fewer informative episodes than `informative_share` of one round's."""
    is_informative = in_informative_group(trajectories, algorithm)
    needed = algorithm.informative_share * config.episodes_a_task
    counts = dict.fromkeys(config.env.tasks, 0)
    for trajectory, informative in zip(trajectories, is_informative, strict=True):
        counts[trajectory.request.task] += bool(informative)
    return [task for task, count in counts.items() if count < needed]


def environment_metrics(trajectories: Sequence[Trajectory]) -> dict[str, float]:
    """Return `env/*`: success by task and over all, episode lengths, and the number of simulated control steps.

    `env/lost` is the share of episodes that a world model aborted; it is absent where there are none.
    """
    tasks = dict.fromkeys(trajectory.request.task for trajectory in trajectories)
    by_task = {
        f"env/success_once/{task}": float(
            np.mean([t.success for t in trajectories if t.request.task == task])
        )
        for task in tasks
    }
    steps, aborted = [t.steps for t in trajectories], [t.aborted for t in trajectories]
    return {
        "env/success_once": float(np.mean([trajectory.success for trajectory in trajectories])),
        **by_task,
        "env/episode_len": float(np.mean(steps)),
        "env/reward": float(np.mean([t.rewards.sum() / t.steps for t in trajectories])),
        "env/num_trajectories": len(trajectories),
        **({"env/lost": float(np.mean(aborted))} if any(aborted) else {}),
        "env/steps": sum(steps),
    }
