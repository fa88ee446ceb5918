"""match(): one row a gate; every misfit turns exactly its own row, and the row says how to mend it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from example_skill import SEED

from openral_core.contract import match, require
from openral_core.errors import ContractError
from openral_core.manifest import RSkillManifest, load_manifest
from openral_core.robot import RobotDescription
from openral_core.scene import DeployScene, load_scene

Make = Callable[..., RSkillManifest]
BOX = {"low": [-1, -1, -1], "high": [2, 2, 2]}
SMALL_BOX = {"low": [0, 0, 0], "high": [1, 1, 1]}


def test_a_skill_that_fits_has_no_failing_row(
    manifest: Make, robot: RobotDescription, scene: DeployScene, skill_folder: Path
) -> None:
    skill = manifest(
        capabilities_required={"has_vision": True},
        starting_pose={"right_j0": 0.1},
        envelope={"max_ee_speed_m_s": 2.0, "workspace": BOX},
    )
    findings = match(skill, robot, scene, folder=skill_folder)
    assert [row.gate for row in findings if not row.ok] == []
    assert [row.mend for row in findings] == [""] * len(findings)
    assert "weights" in {row.gate for row in findings}
    require(findings)


@pytest.mark.parametrize(
    ("changes", "gate", "mend"),
    [
        ({"embodiment_tags": ["widowx"]}, "embodiment", "widowx"),
        (
            {"capabilities_required": {"bimanual": True}},
            "capability bimanual",
            "choose a robot with bimanual: true",
        ),
        ({"capabilities_required": {"has_lidar": True}}, "capability has_lidar", "has_lidar: true"),
        ({"sensors_required": [{"modality": "depth"}]}, "sensor depth", "rgb cameras only"),
        (
            {"sensors_required": [{"modality": "rgb", "vla_feature_key": "observation.images.wrist"}]},
            "cameras",
            "give one of its cameras that feature_key",
        ),
        ({"sensors_required": [{"modality": "rgb", "count": 2}]}, "cameras", "add"),
        (
            {"sensors_required": [{"modality": "rgb", "min_width": 224, "min_height": 200}]},
            "camera observation.images.camera1",
            "at least 224 and 200",
        ),
        ({"state_contract": {"layout": "gr1"}}, "state", "use one of ee_pos3_gripper1"),
        ({"state_contract": None}, "state", "state_contract.layout is missing"),
        ({"action_contract": {"dim": 7}}, "action dim", "choose a scene"),
        (
            {"action_contract": {"dim": 4, "representation": "joint_positions"}},
            "action representation",
            "choose a scene",
        ),
        ({"action_contract": None}, "action", "add action_contract"),
        (
            {"action_contract": {"dim": 4, "control_hz": 20.0}},
            "control rate",
            "set control_hz of the scene to 20",
        ),
        ({"latency_budget": {"per_chunk_ms": 200}}, "latency", "lockstep"),
        ({"starting_pose": {"panda_joint1": 0.0}}, "starting pose", "right_j0"),
        ({"envelope": {"max_ee_speed_m_s": 0.5}}, "speed", "to 0.5"),
        ({"envelope": {"workspace": SMALL_BOX}}, "workspace", "smaller"),
        ({"license": "rlwrld_non_commercial"}, "licence", "OPENRAL_ACCEPT_NONCOMMERCIAL=1"),
        ({"weights_uri": "local://other.safetensors"}, "weights", "fetch or train"),
        ({"evaluated_tasks": ["libero_10"]}, "evaluated tasks", "evaluate it here"),
    ],
)
def test_a_misfit_turns_its_own_row(
    manifest: Make,
    robot: RobotDescription,
    scene: DeployScene,
    skill_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, Any],
    gate: str,
    mend: str,
) -> None:
    monkeypatch.delenv("OPENRAL_ACCEPT_NONCOMMERCIAL", raising=False)
    findings = match(manifest(**changes), robot, scene, folder=skill_folder)
    failing = [row for row in findings if not row.ok]
    assert [row.gate for row in failing] == [gate]
    assert mend in failing[0].mend
    with pytest.raises(ContractError) as caught:
        require(findings)
    assert str(caught.value).startswith(f"{gate}: ")
    assert len(str(caught.value).splitlines()) == 1


def test_a_reward_skill_has_no_action_rows(
    manifest: Make, robot: RobotDescription, scene: DeployScene
) -> None:
    skill = manifest(
        kind="reward",
        actuators_required=[],
        reward={"frame_window_s": 10.0, "target_fps": 5.0},
        action_contract=None,
        state_contract=None,
    )
    findings = match(skill, robot, scene)
    assert {row.gate for row in findings} == {
        "embodiment",
        "camera observation.images.camera1",
        "licence",
        "evaluated tasks",
    }
    require(findings)


def test_the_seed_fits_its_benchmark_but_not_a_small_camera(
    robot: RobotDescription, scene: DeployScene
) -> None:
    seed = load_manifest(SEED)
    require(match(seed, robot, load_scene("metaworld_reach")))
    with pytest.raises(ContractError, match="corner2 128x128, needed at least 224x224 px"):
        require(match(seed, robot, scene))
