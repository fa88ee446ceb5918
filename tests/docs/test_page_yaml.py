"""The whole files that pages show for an arm of one's own are files that openral takes."""

from __future__ import annotations

import re
from pathlib import Path

from openral_core.manifest import load_manifest
from openral_core.robot import load_robot

DOCS = Path(__file__).parents[2] / "docs"


def shown(page: str, begin: str) -> str:
    """Return the text of the page's YAML block that begins so."""
    found = re.findall(r"^```yaml\n(.*?)^```", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL)
    (text,) = (block for block in found if block.startswith(begin))
    return str(text)


def test_the_robot_of_ones_own_scene(tmp_path: Path) -> None:
    (tmp_path / "robot.yaml").write_text(shown("your-own-scene.md", "name: quad"))
    robot = load_robot(tmp_path / "robot.yaml")
    assert robot.joint_names == ("j1", "j2", "j3", "j4", "grip")


def test_the_skill_of_ones_own_family_and_the_one_that_a_server_holds(tmp_path: Path) -> None:
    text = shown("bring-your-checkpoint.md", "name: local/rskill-quad-reach")
    path = tmp_path / "rskill.yaml"
    path.write_text(text)
    assert load_manifest(path).model_family == "own_mlp"
    served = text.replace("model_family: own_mlp", "model_family: external")
    served = re.sub(r"^weights_uri.*\n", "", served, flags=re.MULTILINE)
    path.write_text(served + shown("bring-your-checkpoint.md", "policy_extras:"))
    assert load_manifest(path).policy_extras["url"] == "ws://127.0.0.1:8765"
