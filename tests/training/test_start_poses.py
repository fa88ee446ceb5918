"""Where the hand stood when demonstrations began: from rows to the entries of a manifest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from openral_core.files.share import share_directory
from openral_core.manifest import RSkillManifest, StartPose
from openral_core.manifest.loader import load_manifest
from openral_training.demonstrated_starts import LEAST_TOLERANCE_M, hands_of, start_poses, yaml_lines

HERE = (0.0, 0.6, 0.2)
ELSEWHERE = (0.0, 0.4, 0.2)
ROOT = Path(__file__).parents[2]


def rows(middle: tuple[float, float, float], spread: float = 0.0, opening: float = 0.1) -> np.ndarray:
    """Five beginnings about a point [m], the farthest so far from it."""
    offsets = np.array([[0, 0, 0], [1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]]) * spread
    return np.concatenate([np.array(middle) + offsets, np.full((5, 1), opening)], axis=1)


def test_tasks_that_begin_at_one_place_share_an_entry() -> None:
    found = start_poses({"a": rows(ELSEWHERE), "b": rows(HERE), "c": rows(HERE)})
    assert [(pose.task, pose.position) for pose in found] == [(None, HERE), ("a", ELSEWHERE)]
    assert {pose.gripper_m for pose in found} == {0.1}


@pytest.mark.parametrize(("spread", "tolerance"), [(0.0, 0.012), (0.004, 0.012), (0.03, 0.045)])
def test_the_tolerance_comes_from_the_spread_and_is_twelve_millimetres_at_least(
    spread: float, tolerance: float
) -> None:
    (pose,) = start_poses({"a": rows(HERE, spread)})
    assert pose.tolerance_m == pytest.approx(tolerance)
    assert pose.tolerance_m >= LEAST_TOLERANCE_M


def test_openings_that_differ_are_not_said() -> None:
    mixed = rows(HERE)
    mixed[0, 3] = 0.03
    (pose,) = start_poses({"a": mixed})
    assert pose.gripper_m is None


def test_the_lines_of_a_manifest_are_read_back() -> None:
    found = start_poses({"a": rows(ELSEWHERE, 0.03), "b": rows(HERE), "c": rows(HERE)})
    read = yaml.safe_load(yaml_lines(found))["start_poses"]
    assert tuple(StartPose.model_validate(each) for each in read) == found


@pytest.mark.parametrize(
    ("layout", "opening_m"), [("ee_pos3_gripper1", 0.05), ("ee_pos3_rot6_gripper1", 0.5), ("gr1", None)]
)
def test_layouts_that_begin_with_the_hand_say_where_it_was(layout: str, opening_m: float | None) -> None:
    hands = hands_of(np.array([[0.1, 0.2, 0.3, 0.5]], np.float32), layout)
    if opening_m is None:
        assert hands is None
    else:
        np.testing.assert_allclose(hands, [[0.1, 0.2, 0.3, opening_m]], atol=1e-6)


@pytest.mark.parametrize(
    "skill",
    [
        "mini-metaworld",
        "mini-metaworld-mt10",
        "mini-metaworld-mt50",
        "mini-robosuite-panda",
        "mini-robosuite-sawyer",
    ],
)
def test_a_shipped_policy_says_where_each_of_its_tasks_begins(skill: str) -> None:
    manifest: RSkillManifest = load_manifest(share_directory() / "rskills" / skill)
    known = {start.task for start in manifest.start_poses}
    assert known, "tools/start_poses.py measures them"
    assert all({example.task, None} & known for example in manifest.examples)
    assert min(start.tolerance_m for start in manifest.start_poses) >= LEAST_TOLERANCE_M


@pytest.mark.slow
def test_the_simulator_still_begins_where_the_manifest_says() -> None:
    tool = str(ROOT / "tools" / "start_poses.py")
    words = [sys.executable, tool, "mini-metaworld", "metaworld_drawer", "--check", "--count=1"]
    assert subprocess.run(words, cwd=ROOT, check=False).returncode == 0
