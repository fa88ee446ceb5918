"""Evaluates the skill that a run wrote by the ordinary benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openral_benchmark.execute import execute
from openral_benchmark.execution_config import ExecutionConfig
from openral_benchmark.plan import Settings
from openral_benchmark.record_in_manifest import record_result
from openral_core.errors import ContractError
from openral_core.scene import BenchmarkScene
from openral_core.suite import Suite
from openral_rskill.registry import RSkillPackage, resolve
from openral_rskill.weights_hash import weights_sha256
from openral_training.rl.config import RlConfig
from openral_training.rl.initial_policy import initial_policy
from openral_training.rl.run import BENCHMARK
from openral_training.rl.settings.initial_model import MiniActorConfig


def check_packable(config: RlConfig) -> None:
    """Check that the result of a run can be a skill.

    Raises:
        ContractError: the policy acts on the simulator's state, or is an adapter of a larger model.
    """
    kind = config.actor.model
    if not isinstance(kind, MiniActorConfig):
        raise ContractError(
            f"--package: a policy of actor.model.model_type {kind.model_type} cannot be a skill; learn with model_type "
            "mini, or leave --package out"
        )


def package_result(config: RlConfig, command: str) -> dict[str, Any]:
    """Evaluate the skill in a run's folder by the ordinary benchmark, and return the eval JSON.

    It is written to the skill's `eval/rl_<experiment_name>.json`.

    Args:
        config: of a finished run.
        command: the command line, for the provenance.

    Raises:
        ContractError: see `check_packable`.
    """
    check_packable(config)
    initial = initial_policy(config)
    folder = config.folder / initial.checkpoint_name
    package = resolve(str(folder.resolve()))
    content = _evaluate(package, config, list(initial.scenes.values()), command)
    record_result(package, content)
    return content


def _evaluate(
    package: RSkillPackage, config: RlConfig, scenes: Sequence[BenchmarkScene], command: str
) -> dict[str, Any]:
    """Run each task once from each held-out initial state."""
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
    # A run may go on after it was judged: its rows are then of other weights.
    folder = config.folder / BENCHMARK / str(weights_sha256(package))[:12]
    return execute(
        suite, package, held_out, settings, folder, execution=ExecutionConfig(1), resume=True, command=command
    )
