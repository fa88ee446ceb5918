"""The config of a run: one YAML file, with the names of RLinf's keys where the meaning is the same.

Its sections are in `settings`. A key that is unknown, or that the chosen algorithm or placement does not use, is an
error that names it, so every value in a file has an effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import create_model, model_validator

from openral_core.errors import ManifestError
from openral_core.files.named_files import find_file
from openral_core.files.yaml_document import Document, read_document
from openral_core.schema import Fault, Schema, raise_faults, validate
from openral_training.rl.settings.actor import Actor, InitialCloning
from openral_training.rl.settings.algorithm import Grpo, Ppo
from openral_training.rl.settings.cluster import Cluster
from openral_training.rl.settings.env import Env
from openral_training.rl.settings.initial_model import MiniActorConfig, MlpConfig, TokenConfig
from openral_training.rl.settings.reward import ProgressReward
from openral_training.rl.settings.rollout import Rollout
from openral_training.rl.settings.runner import Runner

PATTERNS = ("config/rl/{}.yaml",)


class RlConfig(Schema):
    """The settings of a training run by reinforcement learning."""

    cluster: Cluster = Cluster()
    """Placement of the run's components."""
    runner: Runner
    """Length, evaluations and logs of the run."""
    env: Env
    """Tasks, environments and initial states."""
    base: InitialCloning | None = None
    """How the initial policy of model_type `mlp` is cloned; absent for other kinds of policies, which are loaded."""
    algorithm: Grpo | Ppo
    """PPO or GRPO."""
    reward: ProgressReward | None = None
    """Reward shaping; absent: success is the only reward."""
    rollout: Rollout = Rollout()
    """How experience is collected."""
    actor: Actor
    """The policy and its optimiser."""

    @model_validator(mode="after")
    def _fits_together(self) -> RlConfig:
        raise_faults([*self._fit_of_worlds(), *self._fit_of_algorithm()])
        return self

    def _fit_of_worlds(self) -> list[Fault]:
        faults, env, stages = [], self.env, self.rollout.pipeline_stage_num
        if env.train.init_ids.overlaps(env.eval.init_ids):
            what = f"{env.eval.init_ids} overlap env.train.init_ids {env.train.init_ids}"
            faults.append(Fault("env.eval.init_ids", what, "evaluate on other states than those of training"))
        if len(set(env.tasks)) < len(env.tasks):
            faults.append(Fault("env.tasks", "names a task twice", "remove one of them"))
        rollout_workers = len(self.cluster.ranks("rollout"))
        share = len(env.tasks) * stages * rollout_workers
        if env.train.total_num_envs % share:
            what = (
                f"{env.train.total_num_envs} environments cannot be shared out among {len(env.tasks)} tasks in "
                f"{stages} stages of {rollout_workers} rollout workers"
            )
            faults.append(Fault("env.train.total_num_envs", what, f"use a multiple of {share}"))
        if stages > 1 and not self.cluster.env_ranks:
            what = f"is {stages}, but simulation and inference share one process and cannot overlap"
            fix = "give env ranks of its own in cluster.component_placement, or set 1"
            faults.append(Fault("rollout.pipeline_stage_num", what, fix))
        if self.base and self.base.demos > env.train.init_ids.count:
            what = (
                f"is {self.base.demos}, more than the {env.train.init_ids.count} states of env.train.init_ids"
            )
            faults.append(Fault("base.demos", what, "lower it: there is one demonstration a state"))
        return [*faults, *self._fit_of_instructions(), *self._fit_of_world_model()]

    def _fit_of_world_model(self) -> list[Fault]:
        """Check that the policy acts on a state, and that rollouts are in the command's process."""
        if self.env.train.world_model is None:
            return []
        faults, kind = [], self.actor.model.model_type
        if kind != "mlp":
            what = f"imagines a state, and a policy of model_type {kind} acts on images"
            faults.append(
                Fault("env.train.world_model", what, "remove it, or set actor.model.model_type to mlp")
            )
        if self.cluster.rollout_apart:
            what = "has rollout workers in processes of their own, where no world model is"
            faults.append(Fault("cluster.component_placement", what, "give rollout and actor the same rank"))
        if self.reward is not None:
            what = "is not used with env.train.world_model, which has a reward of its own"
            faults.append(Fault("reward", what, "remove it"))
        return faults

    def _fit_of_instructions(self) -> list[Fault]:
        instructions, kind = self.env.instructions, self.actor.model.model_type
        faults = [
            Fault(f"env.instructions.{task}", "is none of env.tasks", "remove it")
            for task in instructions
            if task not in self.env.tasks
        ]
        needed = kind == "tokens" or self.reward is not None
        missing = [task for task in self.env.tasks if task not in instructions]
        if needed and missing:
            faults.append(
                Fault("env.instructions", f"lacks {missing[0]}", "add a sentence that says what to do")
            )
        if instructions and kind == "mlp" and not needed:
            what = "is not used: neither the policy nor a reward model takes an instruction"
            faults.append(Fault("env.instructions", what, "remove it"))
        return faults

    def _fit_of_algorithm(self) -> list[Fault]:
        faults, algorithm, kind = [], self.algorithm, self.actor.model.model_type
        if self.base and kind != "mlp":
            what = f"is not used: a policy of actor.model.model_type {kind} is not cloned"
            faults.append(Fault("base", what, "remove it"))
        if algorithm.reward_type == "action" and algorithm.logprob_type == "chunk":
            what = "is chunk, coarser than algorithm.reward_type action"
            faults.append(
                Fault("algorithm.logprob_type", what, "set reward_type to chunk, or this to action")
            )
        if isinstance(algorithm, Ppo):
            if self.actor.optim.value_lr is None:
                faults.append(Fault("actor.optim.value_lr", "is missing for adv_type gae", "add it"))
            return faults
        if self.reward is not None:
            what = "is not used: differences of progress add up to the same return, whose group mean GRPO subtracts"
            faults.append(Fault("reward", what, "remove it, or set algorithm.adv_type to gae"))
        if self.actor.optim.value_lr is not None:
            faults.append(
                Fault("actor.optim.value_lr", "is not used: adv_type grpo has no critic", "remove it")
            )
        if self.episodes_a_task % algorithm.group_size:
            what = (
                f"is {algorithm.group_size}, of which {self.episodes_a_task} episodes a task are no multiple"
            )
            fix = "change env.train.total_num_envs, rollout.rollout_epoch or this"
            faults.append(Fault("algorithm.group_size", what, fix))
        if (algorithm.max_rounds > 1) != (algorithm.informative_share > 0):
            what = "is not used without the other of max_rounds > 1 and informative_share > 0"
            faults.append(Fault("algorithm.informative_share", what, "set both or neither"))
        low, high = algorithm.informative
        if low >= high:
            what = f"no mean lies between {low:g} and {high:g}: no group would be trained on"
            faults.append(Fault("algorithm.informative", what, "write the lower bound first"))
        return faults

    @property
    def episodes_a_task(self) -> int:
        """Episodes of each task in one round of an update; GRPO may run several rounds."""
        return self.env.train.total_num_envs * self.rollout.rollout_epoch // len(self.env.tasks)

    @property
    def folder(self) -> Path:
        """Folder of the run."""
        return Path(self.runner.logger.log_path) / self.runner.logger.experiment_name


_ALGORITHMS: dict[object, type[Schema]] = {"grpo": Grpo, "gae": Ppo}
"""Schema of the section `algorithm`, by its `adv_type`."""
_POLICIES: dict[object, type[Schema]] = {"mlp": MlpConfig, "mini": MiniActorConfig, "tokens": TokenConfig}
"""Schema of the section `actor.model`, by its `model_type`."""


def _schema(algorithm: type[Schema], model: type[Schema]) -> type[RlConfig]:
    """Return RlConfig restricted to one algorithm and kind of policy, so that faults do not name keys of the others."""
    cloned = model is MlpConfig
    actor = create_model("Actor", __base__=Actor, model=(model, model() if cloned else ...))
    rest: dict[str, Any] = {"base": (InitialCloning, InitialCloning())} if cloned else {}
    return create_model("RlConfig", __base__=RlConfig, algorithm=(algorithm, ...), actor=(actor, ...), **rest)


def load_config(ref: str | Path) -> RlConfig:
    """Load a run's file by path, or by the name of one that openral ships.

    Raises:
        NotFoundError: neither exists.
        ManifestError: the file is invalid; one line per fault, `file:line: key: what is wrong; fix`.
    """
    document = read_document(find_file(ref, "RL config", PATTERNS))
    algorithm = _chosen(document, _ALGORITHMS, ("algorithm", "adv_type"), None)
    return validate(
        _schema(algorithm, _chosen(document, _POLICIES, ("actor", "model", "model_type"), "mlp")), document
    )


def _chosen(
    document: Document, known: Mapping[object, type[Schema]], key: tuple[str, ...], usual: str | None
) -> type[Schema]:
    """Return the schema that a key of the file names, `usual` where the key is absent."""
    name = document.section(*key).data or usual
    if name not in known:
        what = "is missing" if name is None else f"'{name}' is not known"
        raise ManifestError(document.fault(key, what, f"use one of {', '.join(map(str, known))}"))
    return known[name]


def with_changes(config: RlConfig, *, out: Path | None, seed: int | None, epochs: int | None) -> RlConfig:
    """Return a config with the values of a command line in place of the file's; None leaves a value as it is.

    Args:
        config: of the file.
        out: folder of the run.
        seed: `actor.seed`.
        epochs: `runner.max_epochs`.
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
