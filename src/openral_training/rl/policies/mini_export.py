"""Writes a trained `mini` skill as a skill folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from openral_core.manifest import MANIFEST_NAME
from openral_policy_nodes.families.mini.network import MiniNetwork
from openral_rskill.mini.checkpoint import save_network
from openral_rskill.registry import RSkillPackage

NAME_SUFFIX = "-rl"
"""Appended to the name of the initial skill."""


def write_mini_skill(
    folder: Path, package: RSkillPackage, network: MiniNetwork, tasks: Sequence[str], chunk: int
) -> None:
    """Write manifest, `config.json` and `model.safetensors`, as `openral train bc` writes the latter two.

    Other tasks of the initial skill were not part of the training and are removed from the manifest.

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
    for key in ("evaluated_tasks", "examples"):
        manifest[key] = [entry for entry in manifest.get(key, []) if _task_of(entry) in tasks]
    save_network(network, network.config, folder, {"learnt_from": package.manifest.name})
    text = yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True, width=110)
    (folder / MANIFEST_NAME).write_text(text, encoding="utf-8")


def _task_of(entry: str | dict[str, Any]) -> str:
    """Return the simulator's task name in an entry of a manifest."""
    task: str = entry if isinstance(entry, str) else entry["task"]
    return task.rsplit("/", 1)[-1]
