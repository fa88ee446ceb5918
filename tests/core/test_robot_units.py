"""Limits in degrees or millimetres, and a URDF that does not fit, are refused where a robot's file is loaded."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from openral_core.errors import ManifestError
from openral_core.files.share import share_directory
from openral_core.robot import load_robot

FR3 = share_directory() / "robots" / "fr3" / "robot.yaml"


def fr3_with(folder: Path, was: str, becomes: str) -> Path:
    """Write a copy of the FR3 whose robot.yaml says something else, and return its file."""
    path: Path = shutil.copytree(FR3.parent, folder / "fr3") / "robot.yaml"
    text = path.read_text()
    assert was in text
    path.write_text(text.replace(was, becomes, 1))
    return path


@pytest.mark.parametrize(
    ("was", "becomes", "fault"),
    [
        (
            "[-2.7437, 2.7437]",
            "[-157, 157]",
            r"position_limits: 157 rad is 25 turns; write radians, not degrees",
        ),
        (
            "velocity_limit: 2.62",
            "velocity_limit: 150",
            r"velocity_limit: 150 rad/s is 24 turns a second; write radians",
        ),
        ("max_opening_m: 0.08", "max_opening_m: 80", r"max_opening_m: "),
        ("max_ee_speed_m_s: ", "max_ee_speed_m_s: 75", r"max_ee_speed_m_s: "),
    ],
)
def test_a_limit_in_another_unit_is_refused(tmp_path: Path, was: str, becomes: str, fault: str) -> None:
    with pytest.raises(ManifestError, match=rf"robot\.yaml:\d+: .*{fault}"):
        load_robot(fr3_with(tmp_path, was, becomes))


@pytest.mark.parametrize(
    ("was", "becomes", "fault"),
    [
        (
            "urdf: fr3.urdf",
            "urdf: fr33.urdf",
            "10: urdf: fr33.urdf does not lie beside robot.yaml; did you mean 'fr3.urdf'?",
        ),
        (
            "urdf: fr3.urdf",
            "urdf: arm.xml",
            "10: urdf: arm.xml does not lie beside robot.yaml; put it there, or take the",
        ),
        ("urdf: fr3.urdf", "urdf: robot.yaml", "10: urdf: robot.yaml cannot be read: "),
        (
            "{name: fr3_joint2,",
            "{name: fr3_jiont2,",
            "13: joints[1].name: 'fr3_jiont2' is no joint of fr3.urdf; did you mean 'fr3_joint2'?",
        ),
        (
            "{name: fr3_joint7,",
            "{name: wrist,",
            "18: joints[6].name: 'wrist' is no joint of fr3.urdf; use one of fr3_joint1, ",
        ),
    ],
)
def test_a_urdf_must_be_there_and_have_the_joints(tmp_path: Path, was: str, becomes: str, fault: str) -> None:
    with pytest.raises(ManifestError, match=rf"robot\.yaml:{re.escape(fault)}"):
        load_robot(fr3_with(tmp_path, was, becomes))


@pytest.mark.parametrize("robot", ["fr3", "franka_panda", "panda", "sawyer", "sawyer_rethink"])
def test_shipped_robots_are_within_them(robot: str) -> None:
    assert load_robot(robot).name == robot


def test_the_folder_of_a_robot_is_a_path_to_it() -> None:
    assert load_robot(FR3.parent) == load_robot(FR3)
