"""Writes a trained `mini` skill as a skill folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from openral_core.files.atomic import write_atomically
from openral_core.manifest import MANIFEST_NAME
from openral_core.manifest.runtime import LOCAL
from openral_core.schema import InitRange
from openral_policy_nodes.families.mini.network import MiniNetwork
from openral_rskill.mini import WEIGHTS
from openral_rskill.mini.checkpoint import save_network
from openral_rskill.registry import RSkillPackage

NAME_SUFFIX = "-rl"
"""Appended to the name of the initial skill."""


def write_mini_skill(
    folder: Path, package: RSkillPackage, network: MiniNetwork, tasks: Sequence[str], chunk: int
) -> None:
    """Write manifest, `config.json` and `model.safetensors`, as `openral train bc` writes the latter two.

    The examples of the initial skill's other tasks are removed from the manifest, as are the success rates that were
    measured with its weights; see `add_training` for what the run adds.

    Args:
        folder: is created if it does not exist.
        package: the initial skill.
        network: of the trained skill.
        tasks: of the run.
        chunk: number of actions that are executed of each of its chunks.
    """
    path = package.folder / MANIFEST_NAME
    manifest: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    manifest["name"] += NAME_SUFFIX
    manifest["n_action_steps"] = chunk
    manifest["weights_uri"] = f"{LOCAL}{WEIGHTS}"
    manifest.pop("benchmarks", None)
    manifest["examples"] = [example for example in manifest.get("examples", []) if _task_of(example) in tasks]
    save_network(network, network.config, folder, {"learnt_from": package.manifest.name})
    text = yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True, width=110)
    (folder / MANIFEST_NAME).write_text(text, encoding="utf-8")


def add_training(manifest_file: Path, states: InitRange, task_ids: Sequence[str]) -> None:
    """Name the tasks of a run in a manifest as the only ones, and add its initial states to `trained_init_ids`.

    A list without tasks, as would be left of one that names a whole simulator, would allow any.

    A manifest has one range for each task. Where it names other states of a task already, as after an earlier run that
    this one went on from, the range becomes the least one that covers both: a benchmark then refuses the states between
    them, too, but never judges a skill on states that it was trained on.
    """
    manifest: dict[str, Any] = yaml.safe_load(manifest_file.read_text(encoding="utf-8"))
    manifest["evaluated_tasks"] = list(task_ids)
    trained: dict[str, Any] = manifest.setdefault("trained_init_ids", {})
    for task_id in task_ids:
        known = InitRange.model_validate(trained[task_id]) if task_id in trained else None
        trained[task_id] = states.covering(known).model_dump()
    text = yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True, width=110)
    write_atomically(manifest_file, text)


def _task_of(example: dict[str, Any]) -> str:
    """Return the simulator's task name in an example of a manifest."""
    return str(example["task"]).rsplit("/", 1)[-1]
