"""URDF and frames against MuJoCo's own forward kinematics."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree as ET

import mujoco
import numpy as np
import pytest

from openral_core.errors import SimulationError
from openral_core.files.share import share_directory
from openral_sim_bridge.backends.fake import FakeBackend
from openral_sim_bridge.backends.mjcf_to_urdf import make_urdf
from openral_sim_bridge.coordinate_frames import LinkFrames, camera_frame, intrinsics


def _origin(joint):
    origin = joint.find("origin")
    x, y, z = map(float, origin.get("xyz").split())
    roll, pitch, yaw = map(float, origin.get("rpy").split())
    cr, sr, cp, sp, cy, sy = (
        np.cos(roll),
        np.sin(roll),
        np.cos(pitch),
        np.sin(pitch),
        np.cos(yaw),
        np.sin(yaw),
    )
    pose = np.eye(4)
    pose[:3, :3] = (
        np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
        @ np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
        @ np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    )
    pose[:3, 3] = x, y, z
    return pose


def _motion(joint, value):
    pose = np.eye(4)
    if joint.get("type") == "fixed":
        return pose
    axis = np.array(list(map(float, joint.find("axis").get("xyz").split())))
    if joint.get("type") == "prismatic":
        pose[:3, 3] = axis * value
        return pose
    k = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    pose[:3, :3] = np.eye(3) + np.sin(value) * k + (1 - np.cos(value)) * k @ k
    return pose


def forward(urdf, root, positions):
    """Poses (4, 4) of every link in the frame of `root`, from the URDF alone."""
    poses, joints = {root: np.eye(4)}, ET.fromstring(urdf).findall("joint")
    while joints:
        joint = joints.pop(0)
        parent = joint.find("parent").get("link")
        if parent not in poses:
            joints.append(joint)
            continue
        value = positions.get(joint.get("name"), 0.0)
        poses[joint.find("child").get("link")] = poses[parent] @ _origin(joint) @ _motion(joint, value)
    return poses


@pytest.fixture(scope="module")
def sawyer():
    from openral_sim_bridge.backends.metaworld.backend import MetaWorldBackend

    backend = MetaWorldBackend(["drawer-open-v3", "drawer-close-v3"])
    yield backend
    backend.close()


def test_urdf_of_the_sawyer_agrees_with_mujoco(sawyer):
    model = sawyer.world(0).model
    data = mujoco.MjData(model)
    urdf = make_urdf(model, "base", "sawyer")
    frames = LinkFrames(sawyer.robot("sawyer", "right_arm_base_link"))
    rng = np.random.default_rng(0)
    for _ in range(20):
        positions = {}
        for name in frames.joint_names:
            joint = model.joint(name)
            positions[name] = rng.uniform(*joint.range)
            data.qpos[joint.qposadr[0]] = positions[name]
        mujoco.mj_forward(model, data)
        poses = forward(urdf, "base", positions)
        for link in ("right_l3", "right_l6", "hand", "rightclaw", "leftpad"):
            body = data.body(link)
            assert np.abs(poses[link][:3, 3] - body.xpos).max() < 5e-4
            assert np.abs(poses[link][:3, :3] - body.xmat.reshape(3, 3)).max() < 1e-5


def test_urdf_has_limits_masses_and_stands_alone(sawyer):
    model = sawyer.world(0).model
    text = make_urdf(model, "base", "sawyer")
    robot = ET.fromstring(text)
    limit = robot.find("joint[@name='right_j1']/limit")
    assert (float(limit.get("lower")), float(limit.get("upper"))) == pytest.approx((-3.8, -0.5))
    masses = [float(mass.get("value")) for mass in robot.iter("mass")]
    below = [b for b in range(model.nbody) if model.body_rootid[b] == model.body("base").id]
    assert sum(masses) == pytest.approx(float(model.body_mass[below].sum()), rel=1e-6)
    assert "file://" not in text


def test_the_shipped_urdf_is_that_of_the_simulated_robot(sawyer):
    shipped = share_directory() / "robots" / "sawyer" / "sawyer.urdf"
    assert shipped.read_text() == sawyer.robot("sawyer", "right_arm_base_link").urdf


def test_meshes_are_written_once(sawyer, tmp_path):
    model = sawyer.world(0).model
    text = make_urdf(model, "base", "sawyer", tmp_path)
    files = sorted(tmp_path.glob("*.stl"))
    assert len(files) == 11
    assert all(file.as_uri() in text for file in files)
    faces = int.from_bytes(files[0].read_bytes()[80:84], "little")
    assert files[0].stat().st_size == 84 + 50 * faces
    times = [file.stat().st_mtime_ns for file in files]
    assert make_urdf(model, "base", "sawyer", tmp_path) == text
    assert [file.stat().st_mtime_ns for file in files] == times


def test_frames_chain_up_to_mujocos_poses(sawyer):
    data = sawyer.world(0).data
    frames = LinkFrames(sawyer.robot("sawyer", "right_arm_base_link"))
    moving = frames.moving(sawyer.joint_positions())
    every = {frame.child: frame for frame in [*frames.fixed(), *moving]}
    position, rotation, name = np.zeros(3), np.eye(3), "leftpad"
    while name != "world":
        frame = every[name]
        x, y, z, w = frame.quaternion
        matrix = np.zeros(9)
        mujoco.mju_quat2Mat(matrix, np.array([w, x, y, z]))
        position = frame.position + matrix.reshape(3, 3) @ position
        rotation = matrix.reshape(3, 3) @ rotation
        name = frame.parent
    assert np.abs(position - data.body("leftpad").xpos).max() < 1e-6
    assert np.abs(rotation - data.body("leftpad").xmat.reshape(3, 3)).max() < 1e-6


def test_camera_info_projects_the_hand_onto_its_image(sawyer):
    """Take the hand out of the picture: its projected centre must lie amid the pixels that change."""
    sawyer.reset(["drawer-open-v3"], [0])
    model, data = sawyer.world(0).model, sawyer.world(0).data
    camera = sawyer.camera("corner2")
    before = sawyer.render(["corner2"])["corner2"][0].astype(int)
    # A renderer draws a copy of the model as it was at its start.
    maimed = type(sawyer)(["drawer-open-v3"])
    maimed.reset(["drawer-open-v3"], [0])
    bodies = (model.body("right_hand").id, model.body("hand").id)
    maimed.world(0).model.geom_group[np.isin(model.geom_bodyid, bodies)] = 5
    after = maimed.render(["corner2"])["corner2"][0].astype(int)
    maimed.close()
    rows, columns = np.nonzero(np.abs(before - after).sum(axis=2) > 30)
    point = camera.rotation.T @ (data.body("right_hand").xpos - camera.position)
    u, v, w = intrinsics(camera) @ point
    assert abs(u / w - columns.mean()) < 8
    assert abs(v / w - rows.mean()) < 8
    frame = camera_frame(camera)
    assert frame.child == "corner2_optical_frame"
    assert np.linalg.norm(frame.quaternion) == pytest.approx(1)


def test_joints_that_urdf_cannot_say_are_refused():
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body name='base'><body name='b'><joint type='ball'/><geom size='.1'/>"
        "</body></body></worldbody></mujoco>"
    )
    with pytest.raises(SimulationError, match="'b' has joints"):
        make_urdf(model, "base", "x")
    with pytest.raises(SimulationError, match="no body 'torso'"):
        make_urdf(model, "torso", "x")


def test_fake_arm_has_a_urdf_too():
    backend = FakeBackend(["reach"])
    robot, positions = backend.robot("fake", "right_arm_base_link"), backend.joint_positions()
    poses = forward(robot.urdf, "right_arm_base_link", positions)
    [state] = backend.reset(["reach"], [0])
    assert poses["hand"][:3, 3] == pytest.approx(state.ee_position)
    assert set(positions) == {"right_j0", "right_j1", "right_j2", "r_close"}


def test_meshes_stay_in_their_folder_whatever_they_are_called(tmp_path):
    corners = "0 0 0 1 0 0 0 1 0 0 0 1"
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><asset>
          <mesh name="../../elsewhere" vertex="{corners}"/><mesh name="arm/link 0" vertex="{corners}"/>
        </asset><worldbody><body name="base">
          <geom type="mesh" mesh="../../elsewhere"/><geom type="mesh" mesh="arm/link 0"/>
        </body></worldbody></mujoco>"""
    )
    folder = tmp_path / "run" / "meshes"
    meshes = ET.fromstring(make_urdf(model, "base", "robot", folder)).findall(".//mesh")
    named = sorted(unquote(urlsplit(mesh.get("filename")).path) for mesh in meshes)
    assert named == sorted(str(path) for path in tmp_path.rglob("*.stl"))
    assert {path.parent for path in tmp_path.rglob("*.stl")} == {folder}
    assert len(named) == 2
