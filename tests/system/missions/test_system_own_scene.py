"""A deployment of somebody's own MuJoCo scene, from a sentence to the simulator's verdict."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml
from system_stack import Stack

from openral_core.files.share import share_directory

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"


@pytest.fixture
def own_scene(tmp_path: Path) -> Path:
    """The Sawyer's tabletop in a folder of its own, with a blind skill and a monitor that asks the simulator."""
    shutil.copytree(share_directory() / "scenes" / "mjcf" / "tabletop_sawyer", tmp_path, dirs_exist_ok=True)
    truth = shutil.copytree(EXAMPLES / "button-truth", tmp_path / "button-truth") / "rskill.yaml"
    manifest = yaml.safe_load(truth.read_text())
    manifest["policy_extras"]["run_dir"] = str(tmp_path / "run")
    truth.write_text(yaml.safe_dump(manifest))
    text = (share_directory() / "scenes" / "deploy" / "tabletop_sawyer.yaml").read_text()
    scene = yaml.safe_load(
        text.replace("../mjcf/tabletop_sawyer/scene.xml", "scene.xml").replace("256", "64")
    )
    scene |= {"skills": [str(EXAMPLES / "press-button")], "reward_skill": str(truth.parent)}
    (tmp_path / "scene.yaml").write_text(yaml.safe_dump(scene))
    return tmp_path / "scene.yaml"


@pytest.mark.long
def test_a_mission_in_ones_own_scene_is_done(own_scene: Path) -> None:
    words = ("--config", str(own_scene), "--mission", "press the button", "--run-dir", "run", "--no-video")
    with Stack(own_scene.parent, "openral", "deploy", "sim", *words, "--rtf", "0.5") as stack:
        assert stack.wait() == 0, stack.output
    summary = json.loads((own_scene.parent / "run" / "summary.json").read_text())
    assert (summary["state"], summary["passed"]) == ("done", True)
    [task] = summary["tasks"]
    assert (task["skill_task"], task["state"], task["simulator_success"]) == ("press-button", "done", True)
    assert stack.errors == []
