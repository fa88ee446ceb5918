"""The whole way: a policy's attempts are recorded, a world model learns from them, a policy learns in it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

from openral_core.errors import ContractError, NotFoundError, OutputError
from openral_core.schema import InitRange
from openral_data.datasets.check import dataset_faults
from openral_data.lerobot_v3 import open_dataset
from openral_training.commands import app as train_app
from openral_training.rl.config import RlConfig, load_config
from openral_training.rl.run import train
from openral_training.world_model.experience import load_rollouts
from openral_training.world_model.learn import train as train_world_model
from openral_training.world_model.learning import LearnConfig
from openral_training.world_model_commands import app

PATIENCE_S = 180.0
TASK, HORIZON, STATES = "drawer-open-v3", 90, 3
TINY = LearnConfig(picture_steps=4, picture_batch=4, steps=4, drawing_steps=2, batch_size=4, held_out=0.0)


def config(folder: Path, world_model: Path | None, chunk: int = 8) -> RlConfig:
    """Return a run of one update, its file as a user writes it."""
    imagined = {} if world_model is None else {"world_model": str(world_model)}
    content: dict[str, Any] = {
        "runner": {"max_epochs": 1, "logger": {"log_path": str(folder), "experiment_name": "run"}},
        "env": {
            "scene": "metaworld_reach",
            "tasks": [TASK],
            "max_episode_steps": HORIZON,
            "train": {"total_num_envs": 2, "init_ids": {"first": 0, "count": STATES}, **imagined},
            "eval": {"init_ids": {"first": 1000, "count": 2}},
        },
        "base": {"demos": 1, "steps": 3},
        "algorithm": {"adv_type": "gae"},
        "actor": {
            "optim": {"lr": 0.001, "value_lr": 0.001},
            "global_batch_size": 8,
            "seed": 1,
            "model": {"head": "gaussian", "hidden": 16, "chunk": chunk},
        },
    }
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return load_config(path)


@pytest.fixture(scope="module")
def rollouts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rollouts")
    config(folder, None)
    told = ["collect", "--config", str(folder / "config.yaml"), "--out", str(folder / "d")]
    done = CliRunner().invoke(app, [*told, "--episodes", str(STATES), "--size", "32"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return folder / "d"


@pytest.fixture(scope="module")
def world_model(rollouts: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    train_world_model(open_dataset(rollouts), folder, TINY, size=32, latent=8)
    return folder


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--size", "64"], r"other settings: cameras\..* \(\[32, 32\] there, \[64, 64\] here\)"),
        (["--size", "32", "--seed", "9"], r"other settings: actor\.seed \(1 there, 9 here\)"),
        (["--size", "32", "--episodes", "2"], "holds 3 episodes a task already; give at least as many"),
    ],
)
def test_rollouts_of_another_kind_are_not_mixed_and_none_is_lost(
    rollouts: Path, words: list[str], why: str
) -> None:
    before = {path: path.stat().st_mtime_ns for path in rollouts.rglob("*.parquet")}
    told = ["collect", "--config", str(rollouts.parent / "config.yaml"), "--out", str(rollouts)]
    refused = CliRunner().invoke(app, [*told, "--episodes", str(STATES), *words]).exception
    assert isinstance(refused, OutputError)
    assert re.search(why, str(refused)), refused
    assert {path: path.stat().st_mtime_ns for path in rollouts.rglob("*.parquet")} == before


@pytest.mark.slow
def test_a_policy_of_several_tasks_is_recorded_in_each(tmp_path: Path) -> None:
    config(tmp_path, None)
    path = tmp_path / "config.yaml"
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    content["env"]["tasks"] = [TASK, "drawer-close-v3"]
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    told = ["collect", "--config", str(path), "--out", str(tmp_path / "d"), "--episodes", "1", "--size", "32"]
    CliRunner().invoke(app, told, catch_exceptions=False)
    dataset = open_dataset(tmp_path / "d")
    assert dataset.episodes["sim_task"] == [TASK, "drawer-close-v3"]
    assert load_rollouts(dataset).state.shape[1] == 21, "the state alone, without the task"


def test_rollouts_have_no_faults(rollouts: Path) -> None:
    assert list(dataset_faults(rollouts)) == []


def test_rollouts_hold_what_was_executed_and_judge_every_task_of_the_scene(rollouts: Path) -> None:
    found = load_rollouts(open_dataset(rollouts))
    assert found.words == {TASK: "open the drawer", "drawer-close-v3": "close the drawer"}
    assert len(found.first) == STATES
    assert (found.last - found.first == HORIZON).all()
    closed = found.success[found.first]
    assert not closed[:, 0].any()
    assert closed[:, 1].all()
    steps = np.diff(found.state[: HORIZON + 1, :3], axis=0)
    pushed = found.action[:HORIZON, :3]
    assert np.corrcoef(steps[:-1].ravel(), pushed[:-1].ravel())[0, 1] > 0.3  # the hand goes where it is sent


def test_a_policy_learns_in_imagination_and_is_judged_in_both_worlds(
    world_model: Path, tmp_path: Path
) -> None:
    result = train(config(tmp_path, world_model))
    for name in ("base", "policy"):
        entry = result[name]["imagined"]
        gap = entry["imagined"]["success_rate"] - entry["real"]["success_rate"]
        assert entry["optimism_gap"] == pytest.approx(gap)
        assert entry["real"]["n_episodes"] == STATES
    assert result == json.loads((tmp_path / "run" / "result.json").read_text(encoding="utf-8"))


def test_a_policy_of_other_chunks_is_refused_before_it_acts(world_model: Path, tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"set actor\.model\.chunk to 8"):
        train(config(tmp_path, world_model, chunk=4))


def test_a_policy_is_not_judged_on_states_that_its_world_model_was_trained_on(
    world_model: Path, tmp_path: Path
) -> None:
    chosen = config(tmp_path, world_model)
    train_env = chosen.env.train.model_copy(update={"init_ids": InitRange(first=0, count=2)})
    eval_env = chosen.env.eval.model_copy(update={"init_ids": InitRange(first=2, count=2)})
    env = chosen.env.model_copy(update={"train": train_env, "eval": eval_env})
    with pytest.raises(ContractError, match=r"env\.eval\.init_ids: .* was trained on 1 of them \(2 …\)"):
        train(chosen.model_copy(update={"env": env}))


@pytest.mark.parametrize("group", ["train", "world-model"])
def test_who_names_no_rollouts_is_told_the_command_that_makes_them(tmp_path: Path, group: str) -> None:
    bad = str(tmp_path / "bad")
    out = str(tmp_path / "out")
    group_app, words = (
        (train_app, ["world-model", "--out", out]) if group == "train" else (app, ["eval", out])
    )
    error = CliRunner().invoke(group_app, [*words, "--dataset", bad]).exception
    assert isinstance(error, NotFoundError)
    assert f"make one with `openral world-model collect --config <RL config> --out {bad}`" in str(error)


@pytest.mark.slow
def test_the_errors_by_horizon_are_whole_in_a_terminal_of_80_characters(
    rollouts: Path, tmp_path: Path
) -> None:
    train_world_model(open_dataset(rollouts), tmp_path, replace(TINY, held_out=0.5), size=32, latent=8)
    words = ["world-model", "eval", str(tmp_path), "--dataset", str(rollouts)]
    done = subprocess.run(
        [sys.executable, "-c", "from openral_cli.app import main; main()", *words],
        env={**os.environ, "COLUMNS": "80"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "…" not in done.stdout
    [heads] = [line.split() for line in done.stdout.splitlines() if "PSNR" in line]
    assert heads[:6] == ["step", "of", "PSNR", "still", "nearest", "SSIM"]
    assert "Warning" not in done.stdout + done.stderr
