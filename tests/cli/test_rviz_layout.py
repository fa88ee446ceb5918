"""Layouts of RViz: every class and key is one that RViz has, every topic one that the deployment has."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from openral_cli.deploy.rviz_layout import SHIPPED, rviz_layout
from openral_core.files.share import share_directory
from openral_core.scene import load_scene

NAMES = json.loads((Path(__file__).parent / "rviz_names.json").read_text())
LAYOUTS = sorted((share_directory() / "config" / "rviz").glob("*.rviz"))


def displays(layout):
    return layout["Visualization Manager"]["Displays"]


def topics(layout):
    found = [each[key] for each in displays(layout) for key in ("Topic", "Description Topic") if key in each]
    return [topic["Value"] for topic in found]


@pytest.mark.parametrize("path", LAYOUTS, ids=lambda path: path.name)
def test_every_class_and_key_is_one_that_rviz_has(path):
    layout = yaml.safe_load(path.read_text())
    manager = layout["Visualization Manager"]
    assert set(manager) <= set(NAMES["manager"])
    assert set(manager["Global Options"]) <= set(NAMES["global_options"])
    for display in displays(layout):
        known = {*NAMES["every_display"], *NAMES["displays"][display["Class"]]}
        assert set(display) <= known, display["Class"]
        for key, values in NAMES["choices"].items():
            assert display.get(key, values[0]) in values
        for topic in (display[key] for key in ("Topic", "Description Topic") if key in display):
            assert set(topic) == set(NAMES["topic"])
            assert all(topic[key] in values for key, values in NAMES["topic_policies"].items())
    assert {tool["Class"] for tool in manager["Tools"]} <= set(NAMES["tools"])
    assert {panel["Class"] for panel in layout["Panels"]} <= set(NAMES["panels"])
    view = manager["Views"]["Current"]
    assert set(view) <= set(NAMES["views"][view["Class"]])


def test_what_ships_is_made_of_the_scenes():
    assert [path.stem for path in LAYOUTS] == sorted(SHIPPED)
    checked = subprocess.run(
        [sys.executable, "tools/pages/rviz_layouts.py", "--check"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr


def test_another_robot_has_its_own_topics_and_frames():
    scene = load_scene("fr3_tabletop")
    layout = yaml.safe_load(rviz_layout(scene, "/arm2"))
    assert all(topic.startswith("/arm2/") for topic in topics(layout))
    assert layout["Visualization Manager"]["Global Options"]["Fixed Frame"] == "arm2/world"
    [robot] = [each for each in displays(layout) if each["Class"].endswith("RobotModel")]
    assert (robot["TF Prefix"], robot["Description Topic"]["Value"]) == ("arm2", "/arm2/robot_description")
    for camera in scene.cameras:
        assert f"/arm2/cameras/{camera.name}/image_raw" in topics(layout)
