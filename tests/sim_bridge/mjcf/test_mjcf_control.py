"""What actions do to a small arm: by joints, by the hand, by torques, and by a mocap body as in MetaWorld."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import metaworld
import numpy as np
import pytest
from mjcf_parts import ACTION, JOINT_ACTION, MODEL, ROBOT, small_scene

from openral_core.errors import SimulationError
from openral_core.scene import load_scene
from openral_sim_bridge.backends.mjcf.backend import MjcfBackend, open_mjcf

MOTORS = (
    MODEL.replace('<position name="pan" joint="pan" kp="200" kv="20"/>', '<motor joint="pan" gear="10"/>')
    .replace('<position name="lift" joint="lift" kp="200" kv="20"/>', '<motor joint="lift"/>')
    .replace('<position name="reach" joint="reach" kp="500" kv="50"/>', '<motor joint="reach"/>')
    .replace("0.1 0.2 0.1 0.05", "0 0 0 0.05")
    .replace('ctrl="0.1 0.4 0.1 0.05"', 'ctrl="0 0 0 0.05"')
    .replace('qpos="0 0 0 0.05', 'qpos="0.1 0.2 0.1 0.05')
)


def drive(backend: MjcfBackend, action: Any, steps: int) -> Any:
    for _ in range(steps):
        result = backend.step(np.array([action], dtype=np.float64))
    return result.states[0]


@pytest.mark.parametrize("model", [MODEL, MOTORS], ids=["position", "torque"])
def test_the_hand_goes_as_far_as_it_is_told(tmp_path: Path, model: str) -> None:
    backend = open_mjcf(small_scene(tmp_path, model=model))
    [start] = backend.reset(["touch"], [0])
    drive(backend, [0.5, 0, 0, -1], 10)
    drive(backend, [0, 0.5, 0.5, -1], 10)
    state = drive(backend, [0, 0, 0, -1], 40)
    np.testing.assert_allclose(state.ee_position - start.ee_position, [0.1, 0.1, 0.1], atol=5e-3)
    assert state.stamp_s == pytest.approx(60 / 50)


@pytest.mark.parametrize("model", [MODEL, MOTORS], ids=["position", "torque"])
def test_joints_go_where_they_are_told_no_faster_than_robot_yaml_allows(tmp_path: Path, model: str) -> None:
    backend = open_mjcf(small_scene(tmp_path, model=model, action=JOINT_ACTION))
    backend.reset(["touch"], [0])
    held = backend.hold_action(None)
    np.testing.assert_allclose(held, [0.1, 0.2, 0.1, -1.0], atol=1e-3)
    state = drive(backend, [1.1, -0.3, 0.2, -1], 10)
    assert state.joint_positions[0] < 0.1 + 2.0 * 10 / 50 + 0.02, "2 rad/s for 0.2 s"
    state = drive(backend, [1.1, -0.3, 0.2, 1], 75)
    np.testing.assert_allclose(state.joint_positions[:3], [1.1, -0.3, 0.2], atol=0.01)
    assert state.gripper_opening == pytest.approx(0.0, abs=5e-3)
    np.testing.assert_allclose(backend.hold_action(None)[:3], [1.1, -0.3, 0.2])


def test_joints_are_displaced_and_stay_within_their_ranges(tmp_path: Path) -> None:
    action = {**ACTION, "representation": "delta_joints_plus_gripper", "step_rad": 0.1}
    backend = open_mjcf(small_scene(tmp_path, action={k: v for k, v in action.items() if k != "step_m"}))
    backend.reset(["touch"], [0])
    drive(backend, [0.5, 0, 0.1, -1], 6)
    state = drive(backend, [0, 0, 0, -1], 40)
    np.testing.assert_allclose(state.joint_positions[:3], [0.4, 0.2, 0.16], atol=0.01)
    drive(backend, [0, 0, 1, -1], 20)
    assert drive(backend, [0, 0, 0, -1], 20).joint_positions[2] <= 0.301


def test_a_set_point_does_not_run_away_from_a_hand_that_is_blocked(tmp_path: Path) -> None:
    """Two seconds into the floor, and the first step up already raises the hand."""
    backend = open_mjcf(small_scene(tmp_path))
    backend.reset(["touch"], [0])
    low = drive(backend, [0, 0, -1, -1], 100).ee_position[2]
    assert drive(backend, [0, 0, 1, -1], 15).ee_position[2] > low + 0.05


def metaworld_scene(folder: Path) -> Path:
    """A scene around a model of MetaWorld itself, in which a mocap body drags the Sawyer."""
    model = Path(metaworld.__file__).parent / "assets" / "sawyer_xyz" / "sawyer_drawer.xml"
    path = folder / "scene.yaml"
    path.write_text(
        f"""
scene:
  id: drawer
  backend: mujoco
  observation_height: 48
  observation_width: 64
  cameras: [corner]
  backend_options:
    family: mjcf
    model: {model}
    render_profile: fast
    mocap: mocap
    robot_root: base
    # The hand in the air beside the table.
    home: {{right_j0: -0.32, right_j1: -1.16, right_j2: 0.07, right_j3: 1.76, right_j5: 0.97, right_j6: 1.51}}
    gripper: {{joints: [r_close, l_close], closed: [0.04, -0.03]}}
    tasks: [open]
    success: {{open: {{near: {{of: [hand, drawer], within_m: 0.05}}}}}}
robot_id: sawyer
control_hz: 80
action: {{representation: delta_ee_3d_plus_gripper, dim: 4, low: [-1, -1, -1, -1], high: [1, 1, 1, 1], step_m: 0.01}}
workspace: {{low: [-1, -1, -1], high: [1, 1.5, 1.5]}}
"""
    )
    return path


def test_a_mocap_body_drags_the_hand(tmp_path: Path) -> None:
    backend = open_mjcf(load_scene(metaworld_scene(tmp_path)))
    [start] = backend.reset(["open"], [0])
    still = drive(backend, [0, 0, 0, -1], 40)
    assert np.linalg.norm(still.ee_position - start.ee_position) < 0.01
    drive(backend, [0.5, 0, 0.5, -1], 20)
    state = drive(backend, [0, 0, 0, -1], 40)
    np.testing.assert_allclose(state.ee_position - still.ee_position, [0.1, 0, 0.1], atol=0.01)
    assert abs(state.ee_quaternion @ start.ee_quaternion) > 0.99, "it keeps its orientation"
    with pytest.raises(SimulationError, match=r'camera gripperPOV turns by itself; write mode="fixed"'):
        backend.camera("gripperPOV")


def test_names_lead_from_robot_yaml_to_the_model(tmp_path: Path) -> None:
    renamed = MODEL.replace('"pan"', '"joint1"').replace('"base"', '"link0"').replace('"tool"', '"tcp"')
    names = {"pan": "joint1", "base": "link0", "tool": "tcp"}
    backend = open_mjcf(small_scene(tmp_path, model=renamed, names=names, cameras=("eye",)))
    [state] = backend.reset(["touch"], [0])
    assert state.joint_names == tuple(joint["name"] for joint in ROBOT["joints"])
    robot = backend.robot("small_arm", "base")
    assert (robot.base.parent, robot.base.child) == ("world", "base")
    for name in ("base", "tool"):
        assert f'<link name="{name}"' in robot.urdf
    assert '<joint name="pan" type="revolute"' in robot.urdf
    assert '<joint name="tool_fixed"' in robot.urdf
    assert set(backend.joint_positions()) == {"pan", "lift", "reach", "finger"}
    assert backend.camera("eye").parent == "wrist"


def test_initial_states_are_drawn_within_their_ranges_and_apart(tmp_path: Path) -> None:
    backend = open_mjcf(small_scene(tmp_path, starts={"touch": "low"}, tasks=["touch", "raise"]))
    seen = set()
    for init_id in range(30):
        [low] = backend.reset(["touch"], [init_id])
        first = backend.snapshot().qpos
        [home] = backend.reset(["raise"], [init_id])
        second = backend.snapshot().qpos
        assert (low.joint_positions[1], home.joint_positions[1]) == pytest.approx((0.4, 0.2))
        np.testing.assert_array_equal(first[4:], second[4:]), "the tasks of a scene share their states"
        ball, box = first[4:7], first[11:14]
        assert 0.5 <= ball[0] <= 0.8
        assert 0.3 <= ball[1] <= 0.6
        assert -0.3 <= box[1] <= 0.3
        assert box[2] == 0.03, "what has no range stays"
        assert np.linalg.norm(ball[:2] - box[:2]) >= 0.1
        seen.add(first.tobytes())
    assert len(seen) == 30
