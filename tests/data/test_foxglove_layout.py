"""The layout for Foxglove: its panels show topics that a recording has, and fields that their messages have."""

from __future__ import annotations

import json

import pytest
from nav_msgs.msg import Path
from visualization_msgs.msg import MarkerArray

from openral_core.files.share import share_directory
from openral_core.graph.namespaces import COMPRESSED_SUFFIX
from openral_core.robot import load_robot
from openral_data.recorded_columns import RecordedColumns
from openral_data.ros.topics import recorded_topics

LIVE = {"/openral/markers": MarkerArray, "/openral/planned_path": Path}
"""What only a running deployment has, by `markers:=true`."""


@pytest.fixture(scope="module")
def layout():
    return json.loads((share_directory() / "config" / "foxglove" / "mission.json").read_text())


@pytest.fixture
def topics(scene):
    columns = RecordedColumns.of(scene, load_robot(scene.robot_id), "metaworld_drawer")
    found = recorded_topics(columns)
    pictures = {f"{topic.name}{COMPRESSED_SUFFIX}": topic.message_type for topic in found if topic.camera}
    return {**{topic.name: topic.message_type for topic in found}, **pictures, **LIVE}


def leaves(tree):
    return [tree] if isinstance(tree, str) else [*leaves(tree["first"]), *leaves(tree["second"])]


def test_every_panel_has_its_place_and_its_settings(layout):
    assert sorted(leaves(layout["layout"])) == sorted(layout["configById"])


def test_every_topic_is_recorded_or_live(layout, topics):
    panels = layout["configById"]
    image = panels["Image!camera"]["imageMode"]
    named = [*panels["3D!robot"]["topics"], panels["3D!robot"]["layers"]["urdf"]["topic"]]
    named += [image["imageTopic"], image["calibrationTopic"], panels["RawMessages!log"]["topicPath"]]
    assert set(named) <= set(topics)


def test_every_path_is_a_field_of_its_message(layout, topics):
    paths = [path["value"] for panel in layout["configById"].values() for path in panel.get("paths", ())]
    assert len(paths) == 7
    for path in paths:
        topic, _, field = path.rpartition(".")
        assert field in topics[topic].get_fields_and_field_types(), path
