"""What a run of reinforcement learning is told: one file, keys as RLinf's users know them where they mean the same.

Each fact is said once. A key that is unknown, or that the chosen algorithm or placement would not read, is an error
that names it, so a number in a file is always a number in force.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from openral_core.document import read_document
from openral_core.errors import ManifestError
from openral_core.named_files import find_file
from openral_core.schema import (
    Count,
    Fault,
    Finite,
    InitRange,
    Many,
    Positive,
    Schema,
    Unit,
    Word,
    raise_faults,
    validate,
)
from openral_training.rl.advantages import Scale
from openral_training.rl.granularity import LogprobLevel, RewardLevel
from openral_training.rl.layout import Cluster
from openral_training.rl.state_mlp import MlpConfig

PATTERNS = ("configs/rl/{}.yaml",)


class Logger(Schema):
    """What is written where while a run learns."""

    log_path: Word = "runs/rl"
    """Folder of all runs."""
    experiment_name: Word
    """Folder of this run in it."""
    logger_backends: Many[Literal["csv", "tensorboard"]] = ("csv",)
    """csv: `metrics.csv`; it is always written, since a run goes on from it. tensorboard: event files."""


class Runner(Schema):
    """How long a run goes on, and how often it is looked at."""

    task_type: Literal["embodied"] = "embodied"
    """The only one."""
    max_epochs: Count
    """Updates of the policy, each after one collection of experience."""
    val_check_interval: Count = 20
    """Updates from one evaluation on held-out states to the next; the base and the last policy are always judged."""
    save_interval: Count = 1
    """Updates from one state from which a killed run goes on to the next."""
    logger: Logger
    """What is written."""


class Videos(Schema):
    """Films of the last evaluation."""

    save_video: bool = False
    """Whether the first success and the first failure of each task are filmed."""


class TrainEnv(Schema):
    """The worlds in which experience is made."""

    total_num_envs: Count
    """Worlds, shared out equally among tasks and pipeline stages."""
    init_ids: InitRange
    """Initial states of each task that may be learnt on."""


class EvalEnv(Schema):
    """What policies are judged on."""

    init_ids: InitRange
    """Initial states of each task that are never learnt on; each is tried once, greedily."""
    video_cfg: Videos = Videos()
    """Films."""


class Env(Schema):
    """Tasks and their worlds."""

    scene: Word
    """Name of a benchmark scene, whose simulator and robot all tasks share."""
    tasks: Annotated[Many[Word], Field(min_length=1)]
    """Names of the simulator's tasks."""
    max_episode_steps: Count = 120
    """Control steps until an episode is cut off."""
    train: TrainEnv
    """Worlds to learn in."""
    eval: EvalEnv
    """States to judge on."""


class Sampling(Schema):
    """How a policy explores."""

    temperature: Positive = 1.0
    """Divisor of the logits (factor of the spread) of what is sampled; what is likeliest stays the same."""
    correlation: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Of the chance of one control step with that of the next, see `noise`."""


class Rollout(Schema):
    """How experience is collected."""

    rollout_epoch: Count = 1
    """Episodes that each world runs for one update."""
    pipeline_stage_num: Count = 1
    """Parts of the worlds that take turns: one is simulated while the policy decides for the other."""
    sampling_params: Sampling = Sampling()
    """How the policy explores."""


class Optim(Schema):
    """Adam."""

    lr: Positive
    """Learning rate of the actor."""
    value_lr: Positive | None = None
    """Learning rate of the critic; only with adv_type gae."""
    clip_grad: Positive = 1.0
    """Most that the norm of a gradient may be."""


class Actor(Schema):
    """What learns, and how fast."""

    model: MlpConfig = MlpConfig()
    """Shape of the state policy."""
    optim: Optim
    """Learning rates."""
    global_batch_size: Count = 1024
    """Decisions of one optimiser step."""
    seed: Annotated[int, Field(ge=0)] = 1234
    """Fixes demonstrations, first weights and all chance of the run."""


class Base(Schema):
    """The policy to begin with: scripted experts, cloned."""

    demos: Count = 4
    """Demonstrations a task, of the first initial states of `env.train.init_ids`."""
    noise: Annotated[float, Field(ge=0, le=2)] = 0.0
    """Standard deviation of what disturbs the experts' hand while they show; labels stay undisturbed."""
    steps: Count = 1000
    """Optimiser steps of cloning."""
    batch_size: Count = 256
    """Decisions of one of them."""
    lr: Positive = 1e-3
    """Learning rate of Adam."""
    entropy_bonus: Annotated[float, Field(ge=0)] = 0.02
    """Weight of the entropy: without it a cloned policy is sure of everything and explores nothing."""


class Shared(Schema):
    """What both algorithms have."""

    reward_type: RewardLevel = "action"
    """Grain of rewards, see `granularity`."""
    logprob_type: LogprobLevel = "token"
    """Grain of probability ratios; not coarser than that of the rewards."""
    update_epoch: Count = 4
    """Times that an update goes through its experience."""
    clip_ratio_low: Unit = 0.2
    """How far below 1 a ratio still counts."""
    clip_ratio_high: Annotated[float, Field(gt=0, le=10)] = 0.28
    """How far above."""
    clip_ratio_c: Annotated[float, Field(gt=1)] | None = None
    """Dual clip: most that a ratio counts for a bad action; absent: no bound."""
    entropy_bonus: Annotated[float, Field(ge=0)] = 0.0
    """Weight of the policy's entropy."""
    kl_beta: Annotated[float, Field(ge=0)] = 0.0
    """Weight of the distance to the base policy."""
    target_kl: Positive | None = 0.02
    """KL to the policy that acted, at the grain of `logprob_type`, after which an update ends early; null: never."""


class Grpo(Shared):
    """Group relative policy optimisation: episodes that began alike are compared with each other."""

    adv_type: Literal["grpo"]
    """Which algorithm."""
    group_size: Annotated[int, Field(ge=2)]
    """Episodes of one (task, initial state)."""
    scale: Scale = "group"
    """What advantages are divided by, see `advantages.group_relative`."""
    std_floor: Positive = 0.1
    """Least divisor."""
    informative: Annotated[tuple[Finite, Finite], Field(strict=False)] = (0.0, 1.0)
    """A group teaches if its success rate is strictly between these."""
    informative_share: Unit = 0.0
    """Share of a task's groups that must teach; more groups of the task are run until they do."""
    max_rounds: Count = 1
    """How often groups are run for one update, the first time included."""


class Ppo(Shared):
    """Proximal policy optimisation: each step is compared with what a critic expected."""

    adv_type: Literal["gae"]
    """Which algorithm."""
    gamma: Unit = 0.99
    """Discount of one step of the grain `reward_type`."""
    gae_lambda: Unit = 0.97
    """How far errors of the critic are looked through."""
    value_clip: Positive | None = 0.2
    """Most that a value may move in one update; null: no bound."""
    huber_delta: Positive = 10.0
    """Error of a value above which the loss is linear."""
    critic_warmup_steps: Annotated[int, Field(ge=0)] = 0
    """First updates in which only the critic learns."""
    scale: Literal["task", "all"] = "task"
    """Over which steps advantages are brought to mean 0 and deviation 1."""


class RlConfig(Schema):
    """A run."""

    cluster: Cluster = Cluster()
    """Where its parts run."""
    runner: Runner
    """How long."""
    env: Env
    """On what."""
    base: Base = Base()
    """From what."""
    algorithm: Grpo | Ppo
    """How."""
    rollout: Rollout = Rollout()
    """How experience is made."""
    actor: Actor
    """Who learns."""

    @model_validator(mode="after")
    def _fits_together(self) -> RlConfig:
        raise_faults([*self._fit_of_worlds(), *self._fit_of_algorithm()])
        return self

    def _fit_of_worlds(self) -> list[Fault]:
        faults, env, stages = [], self.env, self.rollout.pipeline_stage_num
        if set(env.train.init_ids.ids()) & set(env.eval.init_ids.ids()):
            what = f"{env.eval.init_ids} overlap env.train.init_ids {env.train.init_ids}"
            faults.append(Fault("env.eval.init_ids", what, "judge on states that are never learnt on"))
        if len(set(env.tasks)) < len(env.tasks):
            faults.append(Fault("env.tasks", "a task is there twice", "keep one"))
        share = len(env.tasks) * stages
        if env.train.total_num_envs % share:
            what = f"{env.train.total_num_envs} worlds for {len(env.tasks)} tasks in {stages} stages leave a rest"
            faults.append(Fault("env.train.total_num_envs", what, f"use a multiple of {share}"))
        if stages > 1 and not self.cluster.env_processes:
            what = f"is {stages}, but simulation and inference share one process and cannot overlap"
            mend = "give env ranks of its own in cluster.component_placement, or set 1"
            faults.append(Fault("rollout.pipeline_stage_num", what, mend))
        if self.base.demos > env.train.init_ids.count:
            faults.append(Fault("base.demos", "exceeds env.train.init_ids.count", "show no state twice"))
        return faults

    def _fit_of_algorithm(self) -> list[Fault]:
        faults, algorithm = [], self.algorithm
        if algorithm.reward_type == "action" and algorithm.logprob_type == "chunk":
            what = "is chunk, coarser than algorithm.reward_type action"
            faults.append(
                Fault("algorithm.logprob_type", what, "set reward_type to chunk, or this to action")
            )
        if isinstance(algorithm, Ppo):
            if self.actor.optim.value_lr is None:
                faults.append(Fault("actor.optim.value_lr", "is missing for adv_type gae", "add it"))
            return faults
        if self.actor.optim.value_lr is not None:
            faults.append(
                Fault("actor.optim.value_lr", "is not used: adv_type grpo has no critic", "remove it")
            )
        if self.episodes_a_task % algorithm.group_size:
            what = f"{self.episodes_a_task} episodes a task and update are no whole groups of {algorithm.group_size}"
            mend = "change env.train.total_num_envs, rollout.rollout_epoch or this"
            faults.append(Fault("algorithm.group_size", what, mend))
        if (algorithm.max_rounds > 1) != (algorithm.informative_share > 0):
            what = "is not used without the other of max_rounds > 1 and informative_share > 0"
            faults.append(Fault("algorithm.informative_share", what, "set both or neither"))
        return faults

    @property
    def episodes_a_task(self) -> int:
        """Episodes of each task for one update, without those that are run again."""
        return self.env.train.total_num_envs * self.rollout.rollout_epoch // len(self.env.tasks)

    @property
    def folder(self) -> Path:
        """Where the run is kept."""
        return Path(self.runner.logger.log_path) / self.runner.logger.experiment_name


class _GrpoConfig(RlConfig):
    algorithm: Grpo


class _PpoConfig(RlConfig):
    algorithm: Ppo


_MODELS: dict[object, type[RlConfig]] = {"grpo": _GrpoConfig, "gae": _PpoConfig}
"""By adv_type: the faults of a union would speak of both its members."""


def load_config(ref: str | Path) -> RlConfig:
    """Load a run's file by path, or by the name of one that openral ships.

    Raises:
        NotFoundError: neither exists.
        ManifestError: one line a fault, `file:line: key: what is wrong; mend`.
    """
    document = read_document(find_file(ref, "RL config", PATTERNS))
    kind = document.section("algorithm", "adv_type").data
    if kind not in _MODELS:
        key, mend = ("algorithm", "adv_type"), f"use one of {', '.join(map(str, _MODELS))}"
        raise ManifestError(
            document.fault(key, "is missing" if kind is None else f"'{kind}' is not known", mend)
        )
    return validate(_MODELS[kind], document)


def with_changes(config: RlConfig, *, out: Path | None, seed: int | None, epochs: int | None) -> RlConfig:
    """Return a config with what a command line says instead; None: as it is.

    Args:
        config: as its file says.
        out: folder of the run.
        seed: of everything.
        epochs: updates.
    """
    runner, actor = config.runner, config.actor
    if out is not None:
        names = {"log_path": str(out.parent), "experiment_name": out.name}
        runner = runner.model_copy(update={"logger": runner.logger.model_copy(update=names)})
    if epochs is not None:
        runner = runner.model_copy(update={"max_epochs": epochs})
    if seed is not None:
        actor = actor.model_copy(update={"seed": seed})
    return config.model_copy(update={"runner": runner, "actor": actor})
