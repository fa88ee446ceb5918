"""Limits in degrees or millimetres are refused where a robot's file is loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from openral_core.errors import ManifestError
from openral_core.files.share import share_directory
from openral_core.robot import load_robot

FR3 = share_directory() / "robots" / "fr3" / "robot.yaml"


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
    text = FR3.read_text()
    assert was in text
    path = tmp_path / "robot.yaml"
    path.write_text(text.replace(was, becomes, 1))
    with pytest.raises(ManifestError, match=rf"robot\.yaml:\d+: .*{fault}"):
        load_robot(path)


@pytest.mark.parametrize("robot", ["fr3", "franka_panda", "panda", "sawyer", "sawyer_rethink"])
def test_shipped_robots_are_within_them(robot: str) -> None:
    assert load_robot(robot).name == robot


def test_the_folder_of_a_robot_is_a_path_to_it() -> None:
    assert load_robot(FR3.parent) == load_robot(FR3)
