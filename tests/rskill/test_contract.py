"""match(): one row a gate; every misfit turns exactly its own row, and the row says how to fix it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from example_skill import SEED

from openral_core.errors import ContractError
from openral_core.files.share import share_directory
from openral_core.manifest import RSkillManifest, load_manifest
from openral_core.robot import RobotDescription, load_robot
from openral_core.scene import DeployScene, load_scene
from openral_rskill.checks.embodiment import bindings
from openral_rskill.compatibility import match, package_findings, require
from openral_rskill.manifest_assumptions import assumptions

Make = Callable[..., RSkillManifest]
BOX = {"low": [-1, -1, -1], "high": [2, 2, 2]}
ARM = {
    "kind": "cartesian_delta",
    "control_mode_semantics": {"mode": "delta", "reference_frame": "world"},
}
SMALL_BOX = {"low": [0, 0, 0], "high": [1, 1, 1]}


def moved(frame: str, gripper: str = "binary_close_one") -> dict[str, Any]:
    hand = {"kind": "cartesian_delta", "control_mode_semantics": {"mode": "delta", "reference_frame": frame}}
    fingers = {
        "kind": "gripper_binary",
        "control_mode_semantics": {"mode": "absolute", "gripper_convention": gripper},
    }
    return {"actuators_required": [hand, fingers]}


def sliced(*parts: tuple[str, int], discard: bool = False) -> dict[str, Any]:
    slots, begin = [], 0
    for mode, count in parts:
        slots.append({"range": [begin, begin + count], "control_mode": mode, "discard": discard})
        begin += count
    return {"action_contract": {"dim": 4, "slots": slots}}


@pytest.mark.parametrize(
    "changes",
    [
        moved("base"),
        moved("right_arm_base_link"),
        sliced(("cartesian_delta", 3), ("gripper_position", 1)),
        sliced(("cartesian_delta", 1), ("cartesian_delta", 2), ("gripper_binary", 1)),
    ],
)
def test_numbers_that_mean_what_the_scene_executes_fit(
    manifest: Make, robot: RobotDescription, scene: DeployScene, changes: dict[str, Any]
) -> None:
    require(match(manifest(**changes), robot, scene))


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
    assert [row.fix for row in findings] == [""] * len(findings)
    assert "weights" in {row.gate for row in findings}
    require(findings)


def bound(frame: str, joint: str) -> dict[str, Any]:
    """The change that makes a skill read LIBERO's state from a frame and joints."""
    bindings = {"eef_frame": frame, "base_frame": "base", "gripper_qpos_joints": ["right_gripper", joint]}
    return {"state_contract": {"layout": "libero_eef8d", "bindings": bindings}}


def ordered(*joints: str) -> dict[str, Any]:
    """The change that makes a skill's actions name joints."""
    meant = {"mode": "absolute", "joint_order": list(joints)}
    return {"actuators_required": [{"kind": "joint_position", "control_mode_semantics": meant}]}


@pytest.mark.parametrize(
    ("changes", "gate", "fix"),
    [
        (
            ordered("right_j1", "right_j0"),
            "joint order of actuators_required.0",
            "in the order of sawyer",
        ),
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
        ({"state_contract": {"layout": "joint_positions", "dim": 7}}, "state", "set state_contract.dim to 8"),
        ({"state_contract": None}, "state", "state_contract.layout is missing"),
        (bound("panda_hand_tcp", "right_gripper"), "state frame", "choose a robot that gives another"),
        (bound("hand", "panda_finger_joint1"), "state joints", "to joints of sawyer: right_j0"),
        ({"action_contract": {"dim": 7}}, "action dim", "choose a scene"),
        (
            {"action_contract": {"dim": 4, "representation": "joint_positions"}},
            "action representation",
            "choose a scene",
        ),
        ({"action_contract": {"dim": 4, "step_m": 1.0}}, "action step", "write step_m in metres"),
        ({"action_contract": None}, "action", "add action_contract"),
        (
            {"action_contract": {"dim": 4, "control_hz": 20.0}},
            "control rate",
            "set control_hz of the scene to 20",
        ),
        ({"latency_budget": {"per_chunk_ms": 200}}, "latency", "lockstep"),
        ({"actuators_required": [{**ARM, "n_dof": 3}]}, "actuators", "add up to 4"),
        (moved("hand"), "action frame", "in the axes of world or base"),
        (moved("tcp"), "action frame", "in the axes of world or base"),
        (moved("world", "normalized_open_symmetric"), "gripper", "binary_close_one"),
        (moved("world", "normalized_open_unit"), "gripper", "binary_close_one"),
        (moved("world", "width_meters"), "gripper", "binary_close_one"),
        (sliced(("gripper_binary", 1), ("cartesian_delta", 3)), "action slots", "cartesian_delta, then"),
        (sliced(("cartesian_delta", 2), ("gripper_binary", 2)), "action slots", "cartesian_delta, then"),
        (sliced(("cartesian_delta", 4)), "action slots", "cartesian_delta, then"),
        (
            sliced(("cartesian_delta", 3), ("gripper_binary", 1), discard=True),
            "action slots",
            "discards none",
        ),
        ({"runtime": "onnx"}, "runtime", "pytorch"),
        ({"model_family": "minni"}, "family", "did you mean 'mini'?"),
        ({"starting_pose": {"panda_joint1": 0.0}}, "starting pose", "right_j0"),
        ({"envelope": {"max_ee_speed_m_s": 0.5}}, "speed", "to 0.5"),
        ({"envelope": {"workspace": SMALL_BOX}}, "workspace", "smaller"),
        ({"license": "rlwrld_non_commercial"}, "licence", "OPENRAL_ACCEPT_NONCOMMERCIAL=1"),
        ({"license": "unknown"}, "licence", "write their license: into rskill.yaml"),
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
    fix: str,
) -> None:
    monkeypatch.delenv("OPENRAL_ACCEPT_NONCOMMERCIAL", raising=False)
    findings = match(manifest(**changes), robot, scene, folder=skill_folder)
    failing = [row for row in findings if not row.ok]
    assert [row.gate for row in failing] == [gate]
    assert fix in failing[0].fix
    with pytest.raises(ContractError) as caught:
        require(findings)
    assert str(caught.value).startswith(f"{gate}: ")
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(("name", "fits"), [("franka_panda", True), ("fr3", False), ("panda", False)])
def test_the_usual_state_holds_fingers_that_not_every_such_arm_has(
    manifest: Make, name: str, fits: bool
) -> None:
    """A real arm tells how far its gripper is open, and of no finger; the policy's node broke down there."""
    skill = manifest(embodiment_tags=["franka_panda"], state_contract={"dim": 8})
    (row,) = bindings(skill, load_robot(name))
    assert (row.gate, row.ok) == ("state joints", fits)
    assert fits or f"joints of {name}: " in row.fix


@pytest.mark.parametrize(("mode", "fits"), [("absolute", True), ("delta", False)])
def test_displacements_of_joints_are_no_set_points(
    manifest: Make, robot: RobotDescription, scene: DeployScene, mode: str, fits: bool
) -> None:
    """An arm would go to where all joints are near 0."""
    part = {"kind": "joint_position", "control_mode_semantics": {"mode": mode}}
    contract = {"dim": 8, "representation": "joint_positions"}
    skill = manifest(action_contract=contract, actuators_required=[part])
    rows = [row for row in match(skill, robot, scene) if row.gate == "action mode"]
    assert [row.ok for row in rows] == [fits]


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
        "runtime",
        "family",
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


def test_a_camera_of_the_checkpoints_own_size_will_do(
    manifest: Make, robot: RobotDescription, scene: DeployScene
) -> None:
    sensors = [{"modality": "rgb", "min_width": 320, "min_height": 100}]
    with pytest.raises(ContractError, match="needed at least 320x100 px"):
        require(match(manifest(sensors_required=sensors), robot, scene))
    smaller = manifest(sensors_required=sensors, image_preprocessing={"image_size": [96, 128]})
    require(match(smaller, robot, scene))


def test_a_scene_it_was_not_evaluated_in_can_be_allowed(
    manifest: Make, robot: RobotDescription, scene: DeployScene
) -> None:
    skill = manifest(evaluated_tasks=["libero_10"])
    with pytest.raises(ContractError, match="--allow-unevaluated"):
        require(match(skill, robot, scene))
    findings = match(skill, robot, scene, allow_unevaluated=True)
    require(findings)
    assert "allowed by the operator" in findings[-1].found


def test_a_robot_must_take_such_commands(manifest: Make, robot: RobotDescription, scene: DeployScene) -> None:
    gripper = {"control_mode_semantics": {"mode": "absolute", "gripper_convention": "binary_close_one"}}
    skill = manifest(actuators_required=[ARM, {"kind": "gripper_binary", **gripper}])
    require(match(skill, robot, scene))  # the Sawyer's gripper takes positions
    modes = robot.capabilities.model_copy(update={"supported_control_modes": ("joint_position",)})
    other = robot.model_copy(update={"capabilities": modes})
    with pytest.raises(ContractError, match="takes cartesian_delta, gripper_binary"):
        require(match(skill, other, scene))


def test_a_world_action_model_is_understood_and_cannot_run(manifest: Make) -> None:
    found = package_findings(manifest(kind="wam"))
    assert [row.gate for row in found if not row.ok] == ["runtime"]


def abouts(manifest: RSkillManifest, scene: DeployScene | None) -> dict[str, str]:
    return {row.about: row.taken for row in assumptions(manifest, scene)}


def test_what_the_seed_leaves_open_is_said() -> None:
    seed = load_manifest(SEED)
    said = abouts(seed, load_scene("metaworld_reach"))
    assert (
        said["action_contract.representation"]
        == "not stated: taken to be the scene's, delta_ee_3d_plus_gripper"
    )
    assert said["action_contract.control_hz"].endswith("80 Hz")
    assert said["action_contract.step_m"].endswith("0.01 m")
    assert said["state_contract.layout"].startswith("not stated: ee_pos3_gripper1")
    assert said["n_action_steps"] == "not stated: all 16 actions of a chunk are executed"
    assert "commanded by cartesian_delta" in said["actuators_required"]
    assert "actuators_required" not in abouts(seed, None)


def test_what_a_manifest_says_in_two_ways_is_decided() -> None:
    said = abouts(load_manifest(share_directory() / "rskills" / "rldx1-ft-libero-nf4"), None)
    assert (
        "at least 320x180 px, the checkpoint takes 256x256"
        in said["sensors_required observation.images.camera2"]
    )
    assert said["n_action_steps"] == "8 of the 16 actions of a chunk are executed"
    assert "says joint_position, the actions are delta_ee_6d_plus_gripper" in said["actuators_required"]


def test_what_no_code_reads_is_said(manifest: Make) -> None:
    processors = {"preprocessor_uri": "local://a.json", "postprocessor_uri": "local://b.json"}
    said = abouts(manifest(processors=processors), None)
    assert said["family"] == "processors is stated, and family mini does not read it"
