"""The shipped tabletops: arms that reach, grasp and carry; frames, states and pictures that agree with the model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from xml.etree import ElementTree as ET

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray

from openral_core.files.share import share_directory
from openral_core.robot import RobotDescription, load_robot
from openral_core.scene import load_scene
from openral_sim_bridge.backend import Frame, RobotModel
from openral_sim_bridge.backends.factory import make_backend
from openral_sim_bridge.backends.mjcf.backend import MjcfBackend
from openral_sim_bridge.coordinate_frames import LinkFrames, camera_frame

HALF_MILLIMETRE = 5e-4


@pytest.fixture(scope="module", params=["tabletop_panda", "tabletop_sawyer"])
def tabletop(request) -> Iterator[MjcfBackend]:
    made = open_scene(request.param)
    yield made
    made.close()


def open_scene(name: str, num_envs: int = 1) -> MjcfBackend:
    made = make_backend(load_scene(name), num_envs=num_envs)
    assert isinstance(made, MjcfBackend)
    return made


def robot_of(backend: MjcfBackend):
    return load_robot("franka_panda" if "lift-cube" in backend.task_ids else "sawyer")


def pose(position, quaternion) -> NDArray[np.float64]:
    matrix, result = np.zeros(9), np.eye(4)
    x, y, z, w = quaternion
    mujoco.mju_quat2Mat(matrix, np.array([w, x, y, z]))
    result[:3, :3], result[:3, 3] = matrix.reshape(3, 3), position
    return result


def links_in_world(model: RobotModel, joints) -> dict[str, NDArray[np.float64]]:
    """Poses (4, 4) of all links as `/tf` has them."""
    frames = LinkFrames(model)
    waiting, found = [*frames.fixed(), *frames.moving(joints)], {"world": np.eye(4)}
    while waiting:
        ready = [frame for frame in waiting if frame.parent in found]
        assert ready, f"no parent of {[frame.child for frame in waiting]}"
        for frame in ready:
            found[frame.child] = found[frame.parent] @ pose(frame.position, frame.quaternion)
        waiting = [frame for frame in waiting if frame.child not in found]
    return found


def grasp_and_lift(backend: MjcfBackend, task: str, thing: str, above: float, init_id: int) -> bool:
    """Reach over a thing whose place is known, close the fingers around it and raise it."""
    [state] = backend.reset([task], [init_id])
    data = backend.world(0).data
    spot, up = data.body(thing).xpos.copy(), np.array([0.0, 0.0, 1.0])
    spot += above * up
    column, step_m = backend.task_ids.index(task), 0.05
    for target, gripper, steps in (
        (spot + 0.1 * up, -1, 25),
        (spot, -1, 25),
        (spot, 1, 12),
        (spot + 0.2 * up, 1, 30),
    ):
        for _ in range(steps):
            action = np.zeros((1, 7))
            action[0, :3] = np.clip(0.8 * (target - state.ee_position) / step_m, -1, 1)
            action[0, 6] = gripper
            result = backend.step(action)
            state = result.states[0]
    return bool(result.success[0, column])


def test_position_actuators_carry_the_cube() -> None:
    backend = open_scene("tabletop_panda")
    assert all(grasp_and_lift(backend, "lift-cube", "cube", -0.005, init_id) for init_id in range(3))
    backend.close()


def test_torques_carry_the_block() -> None:
    backend = open_scene("tabletop_sawyer")
    assert all(grasp_and_lift(backend, "lift-block", "red_block", 0.02, init_id) for init_id in range(3))
    backend.close()


def test_forward_kinematics_of_urdf_and_model_agree(tabletop: MjcfBackend) -> None:
    robot, world = robot_of(tabletop), tabletop.world(0)
    described = tabletop.robot(robot.name, robot.base_frame)
    joints = [world.model.joint(name) for name in LinkFrames(described).joint_names]
    rng = np.random.default_rng(0)
    for _ in range(10):
        for joint in joints:
            world.data.qpos[joint.qposadr[0]] = rng.uniform(*joint.range)
        mujoco.mj_forward(world.model, world.data)
        links = links_in_world(described, tabletop.joint_positions())
        for name, found in links.items():
            body = mujoco.mj_name2id(world.model, mujoco.mjtObj.mjOBJ_BODY, name)
            if body > 0:
                assert np.abs(found[:3, 3] - world.data.xpos[body]).max() < HALF_MILLIMETRE
                assert np.abs(found[:3, :3] - world.data.xmat[body].reshape(3, 3)).max() < 1e-5
        state = world.robot_state()
        hand = pose(state.ee_position, state.ee_quaternion)
        assert np.abs(links[robot.end_effectors[0].frame] - hand).max() < HALF_MILLIMETRE


def hand_in_base(urdf: str, robot: RobotDescription, joints) -> NDArray[np.float64]:
    """Pose (4, 4) of the hand in the robot's base, from a URDF alone."""
    tree = ET.fromstring(urdf)
    links = {link.get("name") for link in tree.findall("link")}
    [root] = links - {child.get("link") for child in tree.iter("child")}
    model = RobotModel(urdf, Frame("world", root, np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])))
    found = links_in_world(model, dict.fromkeys(LinkFrames(model).joint_names, 0.0) | joints)
    return np.linalg.inv(found[robot.base_frame]) @ found[robot.end_effectors[0].frame]


def test_the_arm_is_the_one_of_the_robots_own_description(tabletop: MjcfBackend) -> None:
    """Skills that were trained on robots/… find the hand at the same place for the same joints."""
    robot = robot_of(tabletop)
    shipped = (share_directory() / "robots" / robot.name / str(robot.urdf)).read_text()
    described = tabletop.robot(robot.name, robot.base_frame).urdf
    rng = np.random.default_rng(1)
    for _ in range(10):
        joints = {j.name: rng.uniform(*j.position_limits) for j in robot.joints if j.role == "arm"}
        theirs, ours = (hand_in_base(urdf, robot, joints) for urdf in (shipped, described))
        assert np.abs(theirs[:3, 3] - ours[:3, 3]).max() < 1e-3
        assert np.abs(theirs[:3, :3] - ours[:3, :3]).max() < 2e-3


def test_the_robots_state_is_what_robot_yaml_names(tabletop: MjcfBackend) -> None:
    robot = robot_of(tabletop)
    [state] = tabletop.reset([tabletop.task_ids[0]], [4])
    assert state.joint_names == robot.joint_names
    assert state.gripper_opening == pytest.approx(robot.end_effectors[0].max_opening_m, abs=0.01)
    assert np.linalg.norm(state.ee_quaternion) == pytest.approx(1.0)
    close = tabletop.hold_action(None)
    close[-1] = 1.0
    for _ in range(20):
        result = tabletop.step(close[None])
    assert result.states[0].gripper_opening < 0.005
    assert tabletop.hold_action(close)[-1] == 1.0


def test_cameras_see_things_where_their_models_say(tabletop: MjcfBackend) -> None:
    """Both the one on the table and the one on the wrist: take a thing away, and the picture changes where it was."""
    task, thing = tabletop.task_ids[0], "cube" if "lift-cube" in tabletop.task_ids else "red_block"
    tabletop.reset([task], [0])
    robot, world = robot_of(tabletop), tabletop.world(0)
    links = links_in_world(tabletop.robot(robot.name, robot.base_frame), tabletop.joint_positions())
    for name in ("front", "wrist"):
        camera = tabletop.camera(name)
        frame = camera_frame(camera)
        optical = links[frame.parent] @ pose(frame.position, frame.quaternion)
        x, y, z = (np.linalg.inv(optical) @ [*world.data.body(thing).xpos, 1.0])[:3]
        focal = camera.height / 2 / np.tan(np.deg2rad(camera.fovy_deg) / 2)
        here = tabletop.snapshot()
        gone = replace(here, qpos=here.qpos.copy())
        gone.qpos[world.model.joint(thing).qposadr[0]] += 50.0
        before = tabletop.render([name])[name][0].astype(int)
        tabletop.restore(gone)
        after = tabletop.render([name])[name][0].astype(int)
        tabletop.restore(here)
        rows, columns = np.nonzero(np.abs(before - after).sum(axis=2) > 60)
        assert len(rows) > 20, name
        assert abs(camera.width / 2 + focal * x / z - np.median(columns)) < 12, name
        assert abs(camera.height / 2 + focal * y / z - np.median(rows)) < 12, name


def play(backend: MjcfBackend, env: int, init_id: int, seed: int) -> bytes:
    rng = np.random.default_rng(seed)
    actions = np.tile(backend.hold_action(None), (backend.num_envs, 1))
    backend.reset([backend.task_ids[0]], [init_id], [env])
    for _ in range(15):
        actions[env] = rng.uniform(-1, 1, 7)
        backend.step(actions)
    data = backend.world(env).data
    return data.qpos.tobytes() + data.qvel.tobytes() + backend.render(["front"], [env])["front"].tobytes()


def test_same_state_and_actions_give_the_same_bytes_in_every_world() -> None:
    backend = open_scene("tabletop_sawyer", num_envs=2)
    first = play(backend, 0, 3, 7)
    play(backend, 0, 4, 8)
    assert play(backend, 0, 3, 7) == first
    assert play(backend, 1, 3, 7) == first
    other = open_scene("tabletop_sawyer")
    assert play(other, 0, 3, 7) == first
    backend.close()
    other.close()


def test_a_snapshot_brings_the_same_picture_back(tabletop: MjcfBackend) -> None:
    play(tabletop, 0, 1, 3)
    snapshot, picture = tabletop.snapshot(), tabletop.render(["front"])["front"]
    play(tabletop, 0, 2, 4)
    assert not np.array_equal(tabletop.render(["front"])["front"], picture)
    tabletop.restore(snapshot)
    np.testing.assert_array_equal(tabletop.render(["front"])["front"], picture)
