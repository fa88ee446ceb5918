"""What a run of reinforcement learning is told: one file, keys as RLinf's users know them where they mean the same.

Each fact is said once. A key that is unknown, or that the chosen algorithm or placement would not read, is an error
that names it, so a number in a file is always a number in force. The parts are in `settings`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import create_model, model_validator

from openral_core.errors import ManifestError
from openral_core.files.document import Document, read_document
from openral_core.files.named_files import find_file
from openral_core.schema import Fault, Schema, raise_faults, validate
from openral_training.rl.policies.mini_actor import MiniActorConfig
from openral_training.rl.policies.state_mlp import MlpConfig
from openral_training.rl.policies.token_model import TokenConfig
from openral_training.rl.settings.actor import Actor, Base
from openral_training.rl.settings.algorithm import Grpo, Ppo
from openral_training.rl.settings.cluster import Cluster
from openral_training.rl.settings.env import Env
from openral_training.rl.settings.reward import ProgressReward
from openral_training.rl.settings.rollout import Rollout
from openral_training.rl.settings.runner import Runner

PATTERNS = ("config/rl/{}.yaml",)


class RlConfig(Schema):
    """A run."""

    cluster: Cluster = Cluster()
    """Where its parts run."""
    runner: Runner
    """How long."""
    env: Env
    """On what."""
    base: Base | None = None
    """How the state policy is cloned that it begins with; the other policies are there already."""
    algorithm: Grpo | Ppo
    """How."""
    reward: ProgressReward | None = None
    """What is paid beside success; absent: nothing."""
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
        rollout_workers = len(self.cluster.ranks("rollout"))
        share = len(env.tasks) * stages * rollout_workers
        if env.train.total_num_envs % share:
            what = (
                f"{env.train.total_num_envs} worlds for {len(env.tasks)} tasks in {stages} stages of {rollout_workers} "
                "players leave a rest"
            )
            faults.append(Fault("env.train.total_num_envs", what, f"use a multiple of {share}"))
        if stages > 1 and not self.cluster.env_ranks:
            what = f"is {stages}, but simulation and inference share one process and cannot overlap"
            fix = "give env ranks of its own in cluster.component_placement, or set 1"
            faults.append(Fault("rollout.pipeline_stage_num", what, fix))
        if self.base and self.base.demos > env.train.init_ids.count:
            faults.append(Fault("base.demos", "exceeds env.train.init_ids.count", "show no state twice"))
        return [*faults, *self._fit_of_words(), *self._fit_of_imagination()]

    def _fit_of_imagination(self) -> list[Fault]:
        """Imagined worlds lie in the command's process and show a state."""
        if self.env.train.world_model is None:
            return []
        faults, kind = [], self.actor.model.model_type
        if kind != "mlp":
            what = f"imagines a state, and a policy of model_type {kind} acts on pictures"
            faults.append(Fault("env.train.world_model", what, "remove it, or take mlp"))
        if self.cluster.rollout_apart:
            what = "has players in processes of their own, and imagined worlds lie in the command's"
            faults.append(Fault("cluster.component_placement", what, "give rollout and actor one rank"))
        if self.reward is not None:
            what = "is not used with env.train.world_model, which has a reward of its own"
            faults.append(Fault("reward", what, "remove it"))
        return faults

    def _fit_of_words(self) -> list[Fault]:
        given, kind = self.env.instructions, self.actor.model.model_type
        faults = [
            Fault(f"env.instructions.{task}", "is none of env.tasks", "remove it")
            for task in given
            if task not in self.env.tasks
        ]
        told = kind == "tokens" or self.reward is not None
        missing = [task for task in self.env.tasks if task not in given]
        if told and missing:
            faults.append(Fault("env.instructions", f"lacks {missing[0]}", "say in words what is to be done"))
        if given and kind == "mlp" and not told:
            what = "is not used: neither the policy nor a reward model is told words"
            faults.append(Fault("env.instructions", what, "remove it"))
        return faults

    def _fit_of_algorithm(self) -> list[Fault]:
        faults, algorithm, kind = [], self.algorithm, self.actor.model.model_type
        if self.base and kind != "mlp":
            what = f"is not used: actor.model.model_type {kind} is a policy already"
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
            what = "is not used: the episodes of a group begin alike, so differences say how they end only"
            faults.append(Fault("reward", what, "remove it, or take adv_type gae"))
        if self.actor.optim.value_lr is not None:
            faults.append(
                Fault("actor.optim.value_lr", "is not used: adv_type grpo has no critic", "remove it")
            )
        if self.episodes_a_task % algorithm.group_size:
            what = f"{self.episodes_a_task} episodes a task and update are no whole groups of {algorithm.group_size}"
            fix = "change env.train.total_num_envs, rollout.rollout_epoch or this"
            faults.append(Fault("algorithm.group_size", what, fix))
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


_ALGORITHMS: dict[object, type[Schema]] = {"grpo": Grpo, "gae": Ppo}
"""By adv_type."""
_POLICIES: dict[object, type[Schema]] = {"mlp": MlpConfig, "mini": MiniActorConfig, "tokens": TokenConfig}
"""By model_type."""


def _schema(algorithm: type[Schema], model: type[Schema]) -> type[RlConfig]:
    """Return RlConfig of one algorithm and one kind of policy: the faults of a union would speak of all its members."""
    cloned = model is MlpConfig
    actor = create_model("Actor", __base__=Actor, model=(model, model() if cloned else ...))
    rest: dict[str, Any] = {"base": (Base, Base())} if cloned else {}
    return create_model("RlConfig", __base__=RlConfig, algorithm=(algorithm, ...), actor=(actor, ...), **rest)


def load_config(ref: str | Path) -> RlConfig:
    """Load a run's file by path, or by the name of one that openral ships.

    Raises:
        NotFoundError: neither exists.
        ManifestError: one line a fault, `file:line: key: what is wrong; fix`.
    """
    document = read_document(find_file(ref, "RL config", PATTERNS))
    algorithm = _chosen(document, _ALGORITHMS, ("algorithm", "adv_type"), None)
    return validate(
        _schema(algorithm, _chosen(document, _POLICIES, ("actor", "model", "model_type"), "mlp")), document
    )


def _chosen(
    document: Document, known: Mapping[object, type[Schema]], key: tuple[str, ...], usual: str | None
) -> type[Schema]:
    """Return what a key of the file stands for."""
    found = document.section(*key).data or usual
    if found not in known:
        what = "is missing" if found is None else f"'{found}' is not known"
        raise ManifestError(document.fault(key, what, f"use one of {', '.join(map(str, known))}"))
    return known[found]


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
