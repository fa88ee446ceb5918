"""`openral rskill`: install, search, remove, new, check and schema, against a hub on this machine."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import hub_server
import jsonschema_rs
import pytest
import yaml
from example_skill import MANIFEST, SEED, write_safetensors
from hub_server import Hub
from rich.console import Console
from typer.testing import CliRunner

from openral_cli.app import app
from openral_core.cli.downloads import download_bars
from openral_core.errors import HubError, LicenseError, NotFoundError, OpenralError, UsageError, WeightsError
from openral_core.files.share import share_directory
from openral_core.manifest import load_manifest
from openral_core.scene import load_scene
from openral_rskill.hub.scaffold import Choices, new_skill
from openral_rskill.registry import resolve

RUN = CliRunner()
PROCESSORS = ("policy_preprocessor.json", "policy_postprocessor.json")


@pytest.fixture(autouse=True)
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    for name in ("OPENRAL_ACCEPT_NONCOMMERCIAL", "OPENRAL_ALLOW_NONCOMMERCIAL", "HF_TOKEN", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENRAL_CACHE_HOME", str(tmp_path / "cache"))
    with hub_server.running() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        yield hub


def config(kind: str = "smolvla", **changes: Any) -> dict[str, Any]:
    """`config.json` as LeRobot writes it."""
    images = {"observation.images.top": {"type": "VISUAL", "shape": [3, 96, 128]}}
    state = {"observation.state": {"type": "STATE", "shape": [4]}}
    return {
        "type": kind,
        "n_obs_steps": 1,
        "input_features": {**state, **images},
        "output_features": {"action": {"type": "ACTION", "shape": [4]}},
        "chunk_size": 50,
        "n_action_steps": 25,
        **changes,
    }


def checkpoint(
    folder: Path, content: dict[str, Any], card: str = "---\nlicense: apache-2.0\n---\n# x\n"
) -> Path:
    """Write the files of a LeRobot checkpoint."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(content))
    for name in PROCESSORS:
        (folder / name).write_text('{"steps": []}')
    (folder / "README.md").write_text(card)
    write_safetensors(folder / "model.safetensors")
    return folder


def invoke(*words: str, code: int = 0) -> str:
    result = RUN.invoke(app, ["rskill", *words], env={"COLUMNS": "200"})
    assert result.exit_code == code, (result.output, result.exception)
    return result.output


def fails(*words: str) -> OpenralError:
    result = RUN.invoke(app, ["rskill", *words])
    assert isinstance(result.exception, OpenralError), result.output
    return result.exception


def test_install_check_search_and_remove(hub: Hub, tmp_path: Path) -> None:
    files = checkpoint(tmp_path / "c", config())
    hub.commit("maker/c", {path.name: path.read_bytes() for path in files.iterdir()})
    manifest = MANIFEST.replace("openral/rskill-example", "maker/rskill-far")
    hub.commit(
        "maker/rskill-far",
        {"rskill.yaml": manifest.replace("local://model.safetensors", "hf://maker/c").encode()},
    )
    assert "maker/rskill-far" in invoke("search", "far")
    assert "maker/c at " in invoke("install", "maker/rskill-far")
    assert "installed" in invoke("list")
    output = invoke("check", "far", "--scene", "metaworld_drawer", "--hashes", "--device", "cpu")
    for gate in (
        "hashes maker/c",
        "hashes maker/rskill-far",
        "accelerator memory",
        "control mode",
        "runtime",
    ):
        assert f"ok  {gate}" in output
    weights = resolve("far").weights_path()
    os.truncate(weights, 20)
    assert "openral rskill install far" in invoke("check", "far", "--hashes", code=1)
    assert f"removed {weights.parent}" in invoke("remove", "far")
    assert isinstance(fails("remove", "far"), NotFoundError)
    assert isinstance(fails("remove", "mini-metaworld"), NotFoundError)


def test_search_without_a_hub_finds_what_is_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    output = invoke("search", "robometer")
    assert "OpenRAL/rskill-robometer-4b-nf4" in output
    assert "hub not searched" in output


def test_a_licence_is_accepted_by_hand(hub: Hub, tmp_path: Path) -> None:
    write_safetensors(tmp_path / "w")
    hub.commit("RLWRLD/RLDX-1-FT-LIBERO", {"model.safetensors": (tmp_path / "w").read_bytes()})
    assert isinstance(fails("install", "rldx1-ft-libero-nf4"), LicenseError)
    assert "no  licence" in invoke("check", "rldx1-ft-libero-nf4", code=1)
    invoke("install", "rldx1-ft-libero-nf4", "--accept-noncommercial")
    accepted = ["check", "rldx1-ft-libero-nf4", "--accept-noncommercial", "--device", "cpu"]
    output = RUN.invoke(app, ["rskill", *accepted], env={"COLUMNS": "200"}).output
    assert "ok  licence" in output
    assert "ok  weights" in output
    assert "8 of the 16 actions of a chunk are executed" in output
    assert "the checkpoint takes 256x256" in output


def test_the_words_of_others_are_no_markup_and_command_no_terminal(hub: Hub, skill_folder: Path) -> None:
    words = "a \\[/x] \x1b]0;theirs\x07"
    manifest = {**yaml.safe_load(MANIFEST), "description": f"It does {words}", "evaluated_tasks": [words]}
    (skill_folder / "rskill.yaml").write_text(json.dumps(manifest))
    (skill_folder / "eval").mkdir()
    (skill_folder / "eval" / "deep.json").write_text("[" * 100_000)
    hub.commit(f"maker/rskill-{words}", {})
    for command in (
        ["show", str(skill_folder)],
        ["check", str(skill_folder), "--scene", "metaworld_drawer"],
        ["search"],
    ):
        done = RUN.invoke(app, ["rskill", *command])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        assert r"a \[/x] \x1b]0;theirs\x07" in " ".join(done.output.split())


def test_the_name_of_a_file_that_is_fetched_commands_no_terminal() -> None:
    out = io.StringIO()
    with download_bars(Console(file=out, force_terminal=True, width=100)) as show:
        show("[/x]\x1b]0;theirs\x07.json", 5, 10)
    assert "\x1b]0;theirs" not in out.getvalue()
    assert r"[/x]\x1b]0;theirs\x07.json" in out.getvalue()


def test_check_looks_at_the_skills_that_are_named(tmp_path: Path, skill_folder: Path) -> None:
    file = skill_folder / "rskill.yaml"
    for name, words in (
        ("no-such-skill", "was not found"),
        ("rldx1-ft-libero-nf4", "set OPENRAL_ACCEPT_NONCOMMERCIAL=1"),
    ):
        file.write_text(f"{MANIFEST}fallback_skill_id: {name}\n")
        output = invoke("check", str(skill_folder), code=1)
        assert "no  fallback skill" in output
        assert words in output
    for name, mark in (("openral/rskill-mini-progress", "ok"), ("mini-metaworld", "no")):
        file.write_text(f"{MANIFEST}reward_rskill_name: {name}\n")
        assert f"{mark}  reward skill" in invoke("check", str(skill_folder), code=0 if mark == "ok" else 1)


@pytest.mark.parametrize("content", ['{"a": ', "[]", None])
def test_check_reads_the_configuration(skill_folder: Path, content: str | None) -> None:
    file = skill_folder / "config.json"
    file.unlink(missing_ok=True)
    if content is not None:
        file.write_text(content)
    output = invoke("check", str(skill_folder), code=1)
    assert "no  weights" in output
    assert "config.json" in output
    assert content is None or "save the checkpoint anew if it is your own" in output


def test_new_from_a_folder_fits_the_scene(tmp_path: Path) -> None:
    source = checkpoint(tmp_path / "trained", config())
    target = tmp_path / "rskills" / "my-arm"
    output = invoke("new", str(source), str(target), "--scene", "metaworld_drawer")
    assert "openral rskill check" in output
    manifest = load_manifest(target)
    assert (manifest.name, manifest.license, manifest.model_family) == (
        "local/rskill-my-arm",
        "apache-2.0",
        "smolvla",
    )
    assert (manifest.chunk_size, manifest.n_action_steps) == (50, 25)
    assert manifest.embodiment_tags == ("sawyer",)
    assert manifest.image_preprocessing is not None
    assert manifest.image_preprocessing.aliases == {"observation.images.camera1": "observation.images.top"}
    assert manifest.image_preprocessing.image_size == (96, 128)
    assert manifest.action_contract is not None
    assert manifest.action_contract.representation == "delta_ee_3d_plus_gripper"
    assert resolve(str(target)).checkpoint() == (target / "checkpoint").resolve()
    assert (target / "checkpoint" / "model.safetensors").stat().st_ino == (
        source / "model.safetensors"
    ).stat().st_ino
    assert "ok  weights" in invoke("check", str(target), "--scene", "metaworld_drawer", "--device", "cpu")
    assert json.loads((target / "eval" / "not_run.json").read_text())["source"]["status"] == "deferred"


def test_new_from_the_hub_is_pinned(hub: Hub, tmp_path: Path) -> None:
    files = checkpoint(
        tmp_path / "c",
        config("diffusion", n_obs_steps=2, n_action_steps=8, horizon=16, chunk_size=None),
        "# x",
    )
    commit = hub.commit("maker/dp", {path.name: path.read_bytes() for path in files.iterdir()})
    target = tmp_path / "dp"
    invoke("new", "hf://maker/dp", str(target), "--embodiment", "sawyer", "--license", "mit")
    manifest = load_manifest(target)
    assert manifest.weights_uri == f"hf://maker/dp@{commit}"
    assert (manifest.chunk_size, manifest.license) == (8, "mit")
    assert manifest.image_preprocessing is not None
    assert manifest.image_preprocessing.history == (-1, 0)
    assert not any("model.safetensors" in path for path in hub.fetched())
    assert sorted(path.name for path in target.iterdir()) == ["README.md", "eval", "rskill.yaml"]
    invoke("install", str(target))
    assert resolve(str(target)).checkpoint().name == commit


def test_new_fetches_no_large_file_beside_the_configuration(hub: Hub, tmp_path: Path) -> None:
    source = checkpoint(tmp_path / "c", config())
    files = {path.name: path.read_bytes() for path in source.iterdir()}
    hub.commit("maker/policy", {**files, "README.md": bytes(2**20 + 1)})
    with pytest.raises(HubError, match=r"README\.md has 1048577 bytes, more than 1048576"):
        new_skill("hf://maker/policy", tmp_path / "new", Choices(embodiment="sawyer"))
    assert not [path for path in hub.fetched() if path.endswith("README.md")]


def test_a_slow_policy_needs_a_world_that_waits(skill_folder: Path) -> None:
    file = skill_folder / "rskill.yaml"
    file.write_text(file.read_text().replace("per_chunk_ms: 50", "per_chunk_ms: 5000"))
    slow = ["check", str(skill_folder), "--device", "cpu", "--scene"]
    assert "no  latency" in invoke(*slow, "metaworld_drawer", code=1)
    invoke(*slow, "metaworld_drawer", "--lockstep")
    invoke(*slow, "metaworld_drawer_open")


def test_check_names_weights_whose_link_leads_nowhere(tmp_path: Path) -> None:
    """As in a copy of a hub's cache, which holds links to files elsewhere."""
    source = checkpoint(tmp_path / "c", config("act"))
    invoke("new", str(source), str(tmp_path / "mine"), "--embodiment", "sawyer")
    weights = tmp_path / "mine" / "checkpoint" / "model.safetensors"
    weights.unlink()
    weights.symlink_to(tmp_path / "blob")
    assert "model.safetensors is not there" in invoke("check", str(tmp_path / "mine"), code=1)


@pytest.mark.parametrize(
    "name",
    ["observation.images.top, left", "observation.images.a: b", "1", "null", "a}\nlicense: mit\n#", "\u00e9"],
)
@pytest.mark.parametrize("scene", ["", "metaworld_drawer"])
def test_new_takes_a_camera_by_whatever_name_it_has(tmp_path: Path, name: str, scene: str) -> None:
    source = checkpoint(
        tmp_path / "c", config("act", input_features={name: {"type": "VISUAL", "shape": [3, 64, 64]}})
    )
    choices = Choices(embodiment="sawyer", scene=load_scene(scene) if scene else None)
    manifest = new_skill(str(source), tmp_path / "mine", choices).manifest
    (sensor,) = manifest.sensors_required
    assert manifest.image_preprocessing is not None
    assert {name, sensor.vla_feature_key} == {name, *manifest.image_preprocessing.aliases}
    assert manifest.license == "apache-2.0"


def test_new_pairs_cameras_in_order_and_states_no_licence(tmp_path: Path) -> None:
    images = {
        f"observation.images.{name}": {"type": "VISUAL", "shape": [3, 64, 64]}
        for name in ("wrist", "camera1")
    }
    content = config("act", input_features=images)
    source = checkpoint(tmp_path / "c", content, "no front matter")
    manifest = new_skill(str(source), tmp_path / "a", Choices(scene=load_scene("metaworld_drawer"))).manifest
    assert [sensor.vla_feature_key for sensor in manifest.sensors_required] == [
        "observation.images.camera1",
        "observation.images.wrist",
    ]
    assert manifest.license == "unknown"
    assert manifest.state_contract is None
    with pytest.raises(LicenseError, match="'unknown'"):
        resolve(str(tmp_path / "a")).checkpoint()


@pytest.mark.parametrize("sees", [True, False])
def test_new_for_an_arm_of_ones_own_describes_its_body_and_its_joints(tmp_path: Path, sees: bool) -> None:
    robot = (share_directory() / "robots/sawyer/robot.yaml").read_text()
    (tmp_path / "robot.yaml").write_text(
        robot.replace("[sawyer]", "[custom]").replace("urdf: sawyer.urdf\n", "")
    )
    scene = yaml.safe_load((share_directory() / "scenes/deploy/metaworld_drawer.yaml").read_text())
    bounds = {"low": [-3.0] * 7 + [-1.0], "high": [3.0] * 7 + [1.0]}
    scene |= {"robot_id": "robot.yaml", "action": {"representation": "joint_positions", "dim": 8, **bounds}}
    (tmp_path / "scene.yaml").write_text(yaml.safe_dump(scene))
    inputs = {"observation.state": {"type": "STATE", "shape": [8]}}
    if sees:
        inputs["observation.images.top"] = {"type": "VISUAL", "shape": [3, 96, 128]}
    outputs = {"action": {"type": "ACTION", "shape": [8]}}
    source = checkpoint(tmp_path / "c", config("act", input_features=inputs, output_features=outputs))
    invoke("new", str(source), str(tmp_path / "mine"), "--scene", str(tmp_path / "scene.yaml"))
    manifest = load_manifest(tmp_path / "mine")
    assert manifest.embodiment_tags == ("custom",)
    assert manifest.embodiment_extra is not None
    assert [(part.kind, part.n_dof) for part in manifest.embodiment_extra.actuators] == [
        ("joint_position", 8)
    ]
    assert manifest.state_contract is not None
    assert (manifest.state_contract.layout, manifest.state_contract.dim) == ("joint_positions", 8)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda folder: (folder / "config.json").write_text('{"type": "rldx"}'), "copy a skill of rskills/"),
        (lambda folder: (folder / "config.json").write_text("[]"), "not a JSON object"),
        (lambda folder: (folder / "config.json").write_text('{"type": "act"}'), "lacks 'input_features'"),
        (
            lambda folder: (folder / "config.json").write_text(
                json.dumps(config()).replace('"chunk_size": 50', '"chunk_size": 1e999')
            ),
            "config.json lacks",
        ),
        (
            lambda folder: (folder / "config.json").write_text(json.dumps(config(n_obs_steps=300_000))),
            "config.json has n_obs_steps 300000, at most 512",
        ),
        (lambda folder: (folder / "config.json").unlink(), "has no config.json"),
        (lambda folder: (folder / PROCESSORS[0]).unlink(), "migrate_policy_normalization"),
        (
            lambda folder: (folder / "model.safetensors").rename(folder / "model.bin"),
            "openral rskill convert",
        ),
        (lambda folder: (folder / "model.safetensors").unlink(), "no safetensors file"),
    ],
)
def test_new_says_what_a_checkpoint_lacks(tmp_path: Path, change: Any, words: str) -> None:
    source = checkpoint(tmp_path / "c", config())
    change(source)
    with pytest.raises(WeightsError, match=words) as caught:
        new_skill(str(source), tmp_path / "new", Choices(embodiment="sawyer"))
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "new").exists()


def test_new_leaves_nothing_half_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = checkpoint(tmp_path / "c", config())
    with monkeypatch.context() as interrupted:
        interrupted.setattr(os, "link", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            new_skill(str(source), tmp_path / "new", Choices(embodiment="sawyer"))
    assert not (tmp_path / "new").exists()
    with pytest.raises(UsageError, match="write --scene, or --embodiment"):
        new_skill(str(source), tmp_path / "new", Choices())
    with pytest.raises(OpenralError, match="embodiment_tags"):
        new_skill(str(source), tmp_path / "new", Choices(embodiment="no-such-robot"))
    assert not (tmp_path / "new").exists()
    with pytest.raises(WeightsError, match="is there already"):
        new_skill(str(source), tmp_path, Choices(embodiment="sawyer"))
    with pytest.raises(NotFoundError):
        new_skill(str(tmp_path / "nothing"), tmp_path / "new", Choices(embodiment="sawyer"))
    with pytest.raises(HubError):
        new_skill("hf://maker/nothing", tmp_path / "new", Choices(embodiment="sawyer"))


def test_the_schema_agrees_with_the_loader() -> None:
    schema = json.loads(invoke("schema"))
    validator = jsonschema_rs.Draft202012Validator(schema)
    for path in [SEED, *(share_directory() / "rskills").glob("*/rskill.yaml")]:
        assert list(validator.iter_errors(yaml.safe_load(path.read_text()))) == []
    assert schema["properties"]["chunk_size"]["description"] == "H, actions of one inference."
    assert all("description" in field for field in schema["properties"].values())
    good = yaml.safe_load(MANIFEST)
    reward = {"frame_window_s": 1, "target_fps": 1}
    for changes in (
        {"chunk_size": 0},
        {"kind": "reward"},
        {"weights_uri": "https://x"},
        {"chunk_sise": 1},
        {"kind": "playbook"},
        {"license": "gpl"},
        {"reward": reward},
    ):
        assert not validator.is_valid({**good, **changes}), changes
