"""`openral scene check`: what it says of scenes that ship, and of what a scene names beside its world."""

from __future__ import annotations

from pathlib import Path

import pytest

from openral_core.errors import SimulationError
from openral_core.files.share import share_directory
from openral_core.robot import load_robot
from openral_core.scene import DeployScene, load_scene
from openral_sim_bridge.backend import Backend
from openral_sim_bridge.check_row import CheckRow
from openral_sim_bridge.deployment_check import deployment_rows
from openral_sim_bridge.scene_check import check_scene

DRAWER = (share_directory() / "scenes/deploy/metaworld_drawer.yaml").read_text()


@pytest.mark.parametrize(
    ("name", "done", "undone"),
    [
        ("metaworld_drawer", "drawer-close-v3", "drawer-open-v3"),
        pytest.param("metaworld_window", "window-close-v3", "window-open-v3", marks=pytest.mark.slow),
    ],
)
def test_of_two_opposite_tasks_one_is_done_at_the_start(name: str, done: str, undone: str) -> None:
    report = check_scene(name, states=2)
    [row] = [row for row in report.rows if row.what == "tasks"]
    assert (row.ok, row.found) == (True, f"done at the start: {done}; not yet: {undone}")
    assert report.ok, [row for row in report.rows if not row.ok]


def rows_of(folder: Path, *changes: tuple[str, str]) -> list[CheckRow]:
    """Return what is said of the drawer's scene with some changes; its world is not built."""
    text = DRAWER
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    path = folder / "copy.yaml"
    path.write_text(text)

    def no_world(scene: DeployScene) -> Backend:
        raise SimulationError("there is no world; none is wanted")

    return [row for row in check_scene(str(path), factory=no_world).rows if row.what != "world"]


def test_what_a_scene_deploys_is_looked_at_before_its_world_is_built(tmp_path: Path) -> None:
    rows = rows_of(tmp_path)
    assert [(row.what, row.ok) for row in rows] == [
        (what, True) for what in ("skills", "motions", "reward skill", "detector skill", "playbooks")
    ]
    assert rows[0].found.startswith("openral/rskill-mini-metaworld ")
    assert rows[1].found.startswith("motion-home, motion-move-to, motion-retract, ")


@pytest.mark.parametrize(
    ("old", "new", "what", "found", "fix"),
    [
        (
            "rskills/mini-metaworld",
            "rskills/mini-metawrld",
            "skills",
            ":25: skills[0]: skill 'rskill://rskills/mini-metawrld' was not found",
            "did you mean 'mini-metaworld'",
        ),
        (
            "rskills/mini-metaworld",
            "rskills/mini-progress",
            "skills",
            ":25: skills[0]: openral/rskill-mini-progress is of kind reward, needed kind vla",
            "name a skill of kind vla",
        ),
        (
            "rskills/mini-metaworld",
            "rskills/mini-robosuite-panda",
            "skills",
            ":25: skills[0]: openral/rskill-mini-robosuite-panda: action dim: 4, needed 7",
            "",
        ),
        (
            "motion-retract",
            "motion-retrct",
            "motions",
            ":31: motions[2]: skill 'rskill://rskills/motion-retrct' was not found",
            "did you mean 'motion-retract'",
        ),
        (
            "motion-retract",
            "mini-metaworld",
            "motions",
            ":31: motions[2]: openral/rskill-mini-metaworld is of kind vla",
            "a motion is a ros_action of openral/action/ExecuteSkill",
        ),
        (
            "rskills/mini-progress",
            "rskills/mini-metaworld",
            "reward skill",
            ":37: reward_skill: openral/rskill-mini-metaworld is of kind vla, needed kind reward",
            "name a skill of kind reward",
        ),
        (
            "rskills/mini-detector",
            "rskills/mini-progress",
            "detector skill",
            ":38: detector_skill: openral/rskill-mini-progress is of kind reward, needed kind detector",
            "name a skill of kind detector",
        ),
        (
            "rskills/free-drawer",
            "rskills/fre-drawer",
            "playbooks",
            ":39: playbooks[0]: skill 'rskill://rskills/fre-drawer' was not found",
            "did you mean 'free-drawer'",
        ),
        (
            "rskills/free-drawer",
            "rskills/mini-metaworld",
            "playbooks",
            ":39: playbooks[0]: openral/rskill-mini-metaworld is of kind vla",
            "list it under skills, not playbooks",
        ),
    ],
)
def test_what_a_scene_cannot_deploy_is_a_row_with_its_line(
    tmp_path: Path, old: str, new: str, what: str, found: str, fix: str
) -> None:
    wrong = [row for row in rows_of(tmp_path, (old, new)) if not row.ok]
    assert {row.what for row in wrong} == {what}
    told = {row.found: row.fix for row in wrong}
    assert f"{tmp_path}/copy.yaml{found}" in told
    assert told[f"{tmp_path}/copy.yaml{found}"].startswith(fix)


def test_every_fault_of_a_list_is_told(tmp_path: Path) -> None:
    changes = (("motion-home", "motion-hom"), ("motion-nudge", "motion-nugde"))
    rows = [row for row in rows_of(tmp_path, *changes) if row.what == "motions"]
    assert [row.ok for row in rows] == [False, False, True]


def test_what_is_on_the_hub_is_left_for_its_first_use(tmp_path: Path) -> None:
    [row, *_] = rows_of(tmp_path, ("rskill://rskills/mini-metaworld", "hf://someone/rskill-elsewhere"))
    assert (row.ok, row.found) == (
        True,
        "hf://someone/rskill-elsewhere (not on this machine: fetched and looked at when it is deployed)",
    )


def test_what_an_operator_allows_when_deploying_is_no_fault_of_the_scene() -> None:
    scene = load_scene("libero_goal")
    [row] = [row for row in deployment_rows(scene, load_robot(scene.robot_id)) if row.what == "skills"]
    assert row.ok
    assert row.found.endswith(" (to be allowed when it is deployed: latency, licence)")


def test_motions_need_an_arm_that_can_do_them(tmp_path: Path) -> None:
    joints = ("  representation: delta_ee_3d_plus_gripper", "  representation: joint_positions")
    wrong = [row for row in rows_of(tmp_path, joints) if row.what == "motions" and not row.ok]
    assert wrong[0].found.startswith(f"{tmp_path}/copy.yaml:28: motions: motions displace the hand")
