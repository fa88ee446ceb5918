"""Which attempts are made for one update: the same for everybody, or more of those that are still informative."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from openral_training.rl.algorithm.batch import Batch, grpo_batch, ppo_batch
from openral_training.rl.algorithm.groups import in_informative_group
from openral_training.rl.config import RlConfig
from openral_training.rl.envs.attempts import EpisodeRequest, Trajectory
from openral_training.rl.envs.shaping import ProgressModel
from openral_training.rl.policies.policy import StochasticPolicy
from openral_training.rl.settings.algorithm import Grpo
from openral_training.rl.workers.rollout_workers import RolloutWorkers, SamplingMode

TRAINING = 1
"""Second number of the seeds of training attempts; the first is the run's."""


@dataclass(frozen=True)
class Collection:
    """What was lived for one update."""

    trajectories: list[Trajectory]
    """All of them."""
    batch: Batch | None
    """What of it is learnt from; None: no group is informative."""
    metrics: dict[str, float]
    """`rollout/*` and `env/*`"""


def collect(
    workers: RolloutWorkers,
    policy: StochasticPolicy,
    config: RlConfig,
    update: int,
    progress: ProgressModel | None = None,
) -> Collection:
    """Let a policy explore once for an update.

    Args:
        workers: let it act.
        policy: acts by chance.
        config: of the run.
        update: number of it, counted from 0; with the seed it fixes everything.
        progress: of which the differences are paid, where `config.reward` asks for them.
    """
    algorithm = config.algorithm
    trajectories: list[Trajectory] = []
    shown: dict[str, float] = {}
    wanted, rounds = list(config.env.tasks), algorithm.max_rounds if isinstance(algorithm, Grpo) else 1
    mode = SamplingMode(explores=True, correlation=config.rollout.sampling_params.correlation)
    for number in range(rounds):
        attempts = attempts_of(config, wanted, update, number)
        trajectories += workers.rollout(policy, attempts, mode)
        if isinstance(algorithm, Grpo):
            wanted = lacking(trajectories, config, algorithm)
        if not wanted:
            break
    if isinstance(algorithm, Grpo):
        batch, metrics = grpo_batch(trajectories, algorithm, horizon=config.env.max_episode_steps)
        metrics["rollout/informative_groups"] = float(in_informative_group(trajectories, algorithm).mean())
        metrics["rollout/rounds"] = number + 1
    else:
        potentials = None
        if progress is not None:
            potentials = progress.potentials(trajectories)
            shown["env/progress"] = float(np.mean([row[-1] for row in potentials]))
        batch, metrics = ppo_batch(trajectories, policy, algorithm, potentials)
    return Collection(trajectories, batch, {**metrics, **environment_metrics(trajectories), **shown})


def attempts_of(config: RlConfig, tasks: Sequence[str], update: int, number: int) -> list[EpisodeRequest]:
    """Return the attempts of one round: for each task its share of initial states, drawn without repetition.

    Args:
        config: of the run.
        tasks: which of its tasks.
        update: number of the update.
        number: of the round in it.
    """
    size = config.algorithm.group_size if isinstance(config.algorithm, Grpo) else 1
    ids, count = list(config.env.train.init_ids.ids()), config.episodes_a_task // size
    watched = config.reward is not None
    made: list[EpisodeRequest] = []
    for index, task in enumerate(config.env.tasks):
        if task not in tasks:
            continue
        key = (config.actor.seed, TRAINING, update, number, index)
        rng = np.random.default_rng(list(key))
        for place in range(count):
            if place % len(ids) == 0:
                order = rng.permutation(ids)
            group = (number * len(config.env.tasks) + index) * count + place
            made += [
                EpisodeRequest(task, int(order[place % len(ids)]), (*key, place, member), group, watched)
                for member in range(size)
            ]
    return made


def lacking(trajectories: Sequence[Trajectory], config: RlConfig, algorithm: Grpo) -> list[str]:
    """Return the tasks of which fewer groups are informative than are wanted of one round."""
    is_informative = in_informative_group(trajectories, algorithm)
    needed = algorithm.informative_share * config.episodes_a_task
    counts = dict.fromkeys(config.env.tasks, 0)
    for trajectory, informative in zip(trajectories, is_informative, strict=True):
        counts[trajectory.attempt.task] += bool(informative)
    return [task for task, count in counts.items() if count < needed]


def environment_metrics(trajectories: Sequence[Trajectory]) -> dict[str, float]:
    """Return `env/*`: success by task and over all, lengths, how many control steps were simulated.

    `env/lost` is the share that a world model gave up, where it gave up any.
    """
    tasks = dict.fromkeys(trajectory.attempt.task for trajectory in trajectories)
    by_task = {
        f"env/success_once/{task}": float(
            np.mean([t.success for t in trajectories if t.attempt.task == task])
        )
        for task in tasks
    }
    steps, lost = [t.steps for t in trajectories], [t.lost for t in trajectories]
    return {
        "env/success_once": float(np.mean([trajectory.success for trajectory in trajectories])),
        **by_task,
        "env/episode_len": float(np.mean(steps)),
        "env/reward": float(np.mean([t.rewards.sum() / t.steps for t in trajectories])),
        "env/num_trajectories": len(trajectories),
        **({"env/lost": float(np.mean(lost))} if any(lost) else {}),
        "env/steps": sum(steps),
    }
