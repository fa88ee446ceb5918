"""Small configs, written as a user writes them."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import yaml

from openral_training.rl.config import RlConfig, load_config

NULL = object()
"""Stands, in a change, for a key that a file has with `null`; None takes the key away."""
SMALL: dict[str, Any] = {
    "runner": {"max_epochs": 2, "logger": {"log_path": "", "experiment_name": "small"}},
    "env": {
        "scene": "metaworld_reach",
        "tasks": ["reach-v3"],
        "max_episode_steps": 12,
        "train": {"total_num_envs": 4, "init_ids": {"first": 0, "count": 6}},
        "eval": {"init_ids": {"first": 1000, "count": 3}},
    },
    "base": {"demos": 1, "steps": 3},
    "algorithm": {"adv_type": "grpo", "group_size": 2, "target_kl": None},
    "actor": {"optim": {"lr": 0.001}, "model": {"hidden": 32}, "global_batch_size": 8},
}
PPO = {
    "algorithm": {"adv_type": "gae"},
    "actor": {**SMALL["actor"], "optim": {"lr": 0.001, "value_lr": 0.001}},
}
SEEING: dict[str, Any] = {
    **PPO,
    "env": {
        "scene": "metaworld_mini",
        "tasks": ["drawer-open-v3"],
        "max_episode_steps": 16,
        "train": {"total_num_envs": 2, "init_ids": {"first": 0, "count": 6}},
        "eval": {"init_ids": {"first": 1000, "count": 2}},
    },
    "base": None,
    "actor": {
        "optim": {"lr": 1e-4, "value_lr": 1e-3},
        "model": {"model_type": "mini", "model_path": "mini-metaworld", "chunk": 8, "hidden": 32},
    },
}
"""A skill that sees opens a drawer."""
PROCESSES = {"cluster": {"component_placement": {"env": "0-1", "rollout,actor": 2}}}
FIRST_DEMO_STEPS = 80
"""Enough for the expert of reach to show initial state 0."""


def write(folder: Path, *changes: dict[str, Any]) -> Path:
    """Write SMALL with changes, key by key, and return the file."""
    content = merged(SMALL, {"runner": {"logger": {"log_path": str(folder)}}})
    for change in changes:
        content = merged(content, change)
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path


def small(folder: Path, *changes: dict[str, Any]) -> RlConfig:
    """Return SMALL with changes, loaded."""
    return load_config(write(folder, *changes))


def merged(content: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """Return `content` with what `change` says instead; None takes a key away, and `adv_type` a whole section."""
    out = dict(content)
    for key, value in change.items():
        if isinstance(value, dict) and isinstance(out.get(key), dict) and "adv_type" not in value:
            out[key] = merged(out[key], value)
        elif value is None:
            out.pop(key, None)
        elif value is NULL:
            out[key] = None
        else:
            out[key] = value
    return out


def metrics(folder: Path) -> list[dict[str, str]]:
    """Return the rows of a run without what the clock says."""
    with (folder / "metrics.csv").open(newline="") as file:
        return [{k: v for k, v in row.items() if not k.startswith("time/")} for row in csv.DictReader(file)]
