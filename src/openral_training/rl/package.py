"""The result of a run as an rSkill that states what it was trained on, with an eval JSON of the ordinary benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from openral_benchmark.execute import execute
from openral_benchmark.execution import ExecutionConfig
from openral_benchmark.manifest_record import record_result
from openral_benchmark.plan import Settings
from openral_core.errors import ContractError
from openral_core.manifest import MANIFEST_NAME
from openral_core.scene import BenchmarkScene
from openral_core.suite import Suite
from openral_rskill.registry import RSkillPackage, resolve
from openral_training.rl.config import RlConfig
from openral_training.rl.policies.initial_policy import begin
from openral_training.rl.policies.mini_actor import MiniActorConfig


def check_packable(config: RlConfig) -> None:
    """See that a run's result can be a skill.

    Raises:
        ContractError: it acts on what no robot and no topic tells, or it is a part of a larger model.
    """
    kind = config.actor.model
    if not isinstance(kind, MiniActorConfig):
        raise ContractError(
            f"--package: a policy of actor.model.model_type {kind.model_type} is no skill: nothing outside the "
            "simulator tells what it sees; learn with model_type mini, or leave --package out"
        )


def package_result(config: RlConfig, command: str) -> dict[str, Any]:
    """Judge the skill that a run left in its folder as any skill is judged, and return the eval JSON.

    It is written to the skill's `eval/rl_<experiment_name>.json`; the manifest gets the states that it was trained on.

    Args:
        config: of a run that is through.
        command: the command line, for the record.

    Raises:
        ContractError: see `check_packable`.
    """
    check_packable(config)
    beginning = begin(config)
    folder = config.folder / beginning.kept
    _state_training(folder, config, list(beginning.scenes.values()))
    package = resolve(str(folder.resolve()))
    content = _judged(package, config, list(beginning.scenes.values()), command)
    record_result(package, content)
    return content


def _judged(
    package: RSkillPackage, config: RlConfig, scenes: Sequence[BenchmarkScene], command: str
) -> dict[str, Any]:
    """Run the tasks on the states that the run held out, each once, through the skill's own contract."""
    env, states = config.env, config.env.eval.init_ids
    held_out = tuple(
        scene.model_copy(
            update={
                "seed": states.first,
                "n_episodes": states.count,
                "task": scene.task.model_copy(update={"max_steps": env.max_episode_steps}),
            }
        )
        for scene in scenes
    )
    suite = Suite(f"rl_{config.runner.logger.experiment_name}", held_out, env.train.init_ids)
    settings = Settings(states.count, min(8, states.count))
    folder = config.folder / "benchmark"
    return execute(
        suite, package, held_out, settings, folder, execution=ExecutionConfig(1), resume=True, command=command
    )


def _state_training(folder: Path, config: RlConfig, scenes: Sequence[BenchmarkScene]) -> None:
    """Add what this run learnt on to what the skill was trained on before."""
    path = folder / MANIFEST_NAME
    manifest: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    states = config.env.train.init_ids.model_dump()
    manifest.setdefault("trained_init_ids", {}).update({scene.task.id: states for scene in scenes})
    text = yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True, width=110)
    path.write_text(text, encoding="utf-8")
