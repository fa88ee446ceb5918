"""What a run leaves is a skill that says what it was trained on, with an eval JSON that the benchmark wrote."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from rl_settings import PPO, SEEING, small, write
from typer.testing import CliRunner

from openral_cli.app import app
from openral_core.errors import ContractError
from openral_core.manifest import load_manifest
from openral_core.schema import InitRange
from openral_policy_nodes.families.mini.network import MiniConfig, MiniNetwork
from openral_rskill.checks.unseen_states import unseen_states
from openral_rskill.measured_results import set_aside_results
from openral_rskill.mini.checkpoint import save_network
from openral_rskill.registry import load_package, resolve
from openral_training.rl import package
from openral_training.rl.config import load_config
from openral_training.rl.initial_policy import initial_policy
from openral_training.rl.package import check_packable
from openral_training.rl.policies.mini_export import add_training, write_mini_skill

pytestmark = pytest.mark.usefixtures("warm_workers")

TASK = "metaworld/drawer-open-v3"


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
    done = CliRunner().invoke(app, ["train", "rl", "--config", str(path), "--epochs", "2", "--resume"])
    assert done.exit_code == 0, (done.output, done.exception)
    assert list((folder / "eval").iterdir()) == []
    earlier = config.folder / "benchmark" / hashlib.sha256(weights).hexdigest()[:12] / "rl_small.json"
    assert json.loads(earlier.read_text(encoding="utf-8")) == content
    assert f"{earlier}: is of the weights before; the skill's eval/ no longer has it" in done.output


def test_results_of_other_weights_leave_the_skill_and_are_kept(tmp_path: Path) -> None:
    (tmp_path / "eval").mkdir()
    results = {"earlier": "a" * 64, "present": "b" * 64, "reported": None}
    for name, weights in results.items():
        measured = {
            "results": {"episodes": []} if weights else None,
            "provenance": {"weights_sha256": weights},
        }
        (tmp_path / "eval" / f"{name}.json").write_text(json.dumps(measured), encoding="utf-8")
    moved = set_aside_results(tmp_path, "b" * 64, tmp_path / "benchmark")
    assert moved == [tmp_path / "benchmark" / "aaaaaaaaaaaa" / "earlier.json"]
    assert moved[0].is_file()
    assert sorted(path.name for path in (tmp_path / "eval").iterdir()) == ["present.json", "reported.json"]
    assert set_aside_results(tmp_path, "b" * 64, tmp_path / "benchmark") == []


def test_a_run_that_goes_on_is_judged_anew_beside_its_earlier_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = small(tmp_path, SEEING)
    skill = config.folder / "policy"
    shutil.copytree(resolve("mini-metaworld").folder, skill)
    folders: list[Path] = []

    def execute(*arguments: Any, **_: Any) -> dict[str, Any]:
        folders.append(arguments[4])
        return {}

    monkeypatch.setattr(package, "execute", execute)
    monkeypatch.setattr(package, "record_result", lambda *_: [])
    package.package_result(config, "openral")
    package.package_result(config, "openral")
    network, shape = MiniNetwork(MiniConfig(image_size=32)), MiniConfig(image_size=32)
    save_network(network, shape, skill, {})
    package.package_result(config, "openral")
    assert folders[0] == folders[1] != folders[2]


def test_states_of_an_earlier_run_stay_in_the_manifest(tmp_path: Path) -> None:
    manifest = tmp_path / "rskill.yaml"
    manifest.write_text("name: a/b\nevaluated_tasks: [metaworld]\n", encoding="utf-8")
    tasks = [TASK, "metaworld/reach-v3"]
    for first in (100, 0, 40):
        add_training(manifest, InitRange(first=first, count=50), tasks)
    range_ = {"first": 0, "count": 150}
    content = yaml.safe_load(manifest.read_text(encoding="utf-8"))
    states = {TASK: range_, "metaworld/reach-v3": range_}
    assert content == {"name": "a/b", "evaluated_tasks": tasks, "trained_init_ids": states}


def test_a_skill_has_weights_of_its_own_and_no_figures_of_the_one_it_began_with(tmp_path: Path) -> None:
    first = tmp_path / "first"
    first.mkdir()
    shipped = resolve("mini-metaworld").folder / "rskill.yaml"
    content = yaml.safe_load(shipped.read_text(encoding="utf-8"))
    content |= {"weights_uri": "hf://owner/first@main", "benchmarks": {"metaworld_mt10": 0.9}}
    (first / "rskill.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    network = MiniNetwork(MiniConfig(("camera1",), image_size=32))
    write_mini_skill(tmp_path / "policy", load_package(first), network, ["drawer-open-v3"], 8)
    manifest = load_manifest(tmp_path / "policy" / "rskill.yaml")
    assert (manifest.weights_uri, manifest.benchmarks) == ("local://model.safetensors", {})


def test_a_policy_on_the_state_is_no_skill(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"--package: a policy of .*model_type mlp cannot be a skill"):
        check_packable(small(tmp_path, PPO))
