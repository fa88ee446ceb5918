"""What a run leaves is a skill that says what it was trained on, with an eval JSON that the benchmark wrote."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
import yaml
from rl_settings import PPO, SEEING, small, write
from typer.testing import CliRunner

from openral_cli.app import app
from openral_core.errors import ContractError
from openral_core.schema import InitRange
from openral_rskill.checks.unseen_states import unseen_states
from openral_rskill.registry import resolve
from openral_training.rl.config import load_config
from openral_training.rl.initial_policy import initial_policy
from openral_training.rl.package import check_packable
from openral_training.rl.policies.mini_export import add_trained_states

TASK = "metaworld/drawer-open-v3"


@pytest.mark.slow
def test_a_result_is_judged_as_any_skill_is_on_what_was_held_out(tmp_path: Path) -> None:
    path = write(tmp_path, SEEING, {"runner": {"max_epochs": 1}})
    done = CliRunner().invoke(app, ["train", "rl", "--config", str(path), "--package"])
    assert done.exit_code == 0, (done.output, done.exception)
    config = load_config(path)
    folder = config.folder / "policy"
    assert f"{folder}: rSkill " in done.output
    result = json.loads((config.folder / "result.json").read_text(encoding="utf-8"))
    content = json.loads((folder / "eval" / "rl_small.json").read_text(encoding="utf-8"))
    rows = [(row["init_id"], row["success"], row["steps"]) for row in content["results"]["episodes"]]
    assert rows == [(row["init_id"], row["success"], row["steps"]) for row in result["episodes"]]
    assert content["eval_config"]["deviations"] == []
    assert content["eval_config"]["max_steps"] == 16
    manifest = resolve(str(folder)).manifest
    assert manifest.trained_init_ids[TASK] == config.env.train.init_ids
    weights = (folder / "model.safetensors").read_bytes()
    assert content["provenance"]["weights_sha256"] == hashlib.sha256(weights).hexdigest()
    scene = initial_policy(config).scenes["drawer-open-v3"]
    assert unseen_states(manifest, scene, [1000]).ok
    assert not unseen_states(manifest, scene, [5]).ok


def test_states_of_an_earlier_run_stay_in_the_manifest(tmp_path: Path) -> None:
    manifest = tmp_path / "rskill.yaml"
    manifest.write_text("name: a/b\n", encoding="utf-8")
    for first in (100, 0, 40):
        add_trained_states(manifest, InitRange(first=first, count=50), [TASK, "metaworld/reach-v3"])
    range_ = {"first": 0, "count": 150}
    content = yaml.safe_load(manifest.read_text(encoding="utf-8"))
    assert content == {"name": "a/b", "trained_init_ids": {TASK: range_, "metaworld/reach-v3": range_}}


def test_a_policy_on_the_state_is_no_skill(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"--package: a policy of .*model_type mlp cannot be a skill"):
        check_packable(small(tmp_path, PPO))
