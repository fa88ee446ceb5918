"""Conversion of the robot in a MuJoCo model to URDF with the same forward kinematics.

The root body and every body below it become links of the same names and frames. A hinge becomes a revolute (or
continuous) joint, a slide a prismatic one, and a body without a joint is attached by a fixed one. Joint positions are
MuJoCo's qpos.
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import mujoco
import numpy as np
from numpy.typing import NDArray

from openral_core.errors import SimulationError
from openral_core.files.atomic import write_atomically

EFFORT, VELOCITY = "1000", "10"
"""Limits that URDF requires but MuJoCo models do not contain; this project does not use them."""
SHOWN_NAME = 50
"""Most characters of a mesh's name that the name of its file has."""
_FIXED = "_fixed"
"""Suffix that makes a fixed joint's name from that of its child link."""


def subtree(model: Any, root: str) -> list[int]:
    """Return the ids of the body `root` and all bodies below it, parents first.

    Raises:
        SimulationError: the model has no such body.
    """
    first = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, root)
    if first < 0:
        raise SimulationError(f"the model has no body '{root}'; see base_frame in robot.yaml")
    chosen = [first]
    for body in range(first + 1, model.nbody):
        if int(model.body_parentid[body]) in chosen:
            chosen.append(body)
    return chosen


def robot_root(model: Any, base_frame: str) -> str:
    """Return the name of the child body of the world from which the body `base_frame` descends.

    Raises:
        SimulationError: the model has no body `base_frame`.
    """
    body = subtree(model, base_frame)[0]
    return link_name(model, int(model.body_rootid[body]))


def link_name(model: Any, body: int) -> str:
    """Return the name of the link for a body; that of an unnamed body is `body_<id>`."""
    return model.body(body).name or f"body_{body}"


def make_urdf(
    model: Any,
    root: str,
    robot_name: str,
    mesh_directory: Path | None = None,
    *,
    hidden_groups: Sequence[int] = (),
    names: Mapping[str, str] | None = None,
    sites: Sequence[str] = (),
) -> str:
    """Return the URDF text of the robot whose base is body `root`.

    Args:
        model: mujoco.MjModel.
        root: name of the robot's base body, which becomes the root link.
        robot_name: name of the robot in the URDF.
        mesh_directory: folder to which meshes are written as STL, with `file://` references to them; None: each mesh is
            replaced by its bounding box, and the text needs no other file.
        hidden_groups: geometry groups that are left out, besides those that MuJoCo does not draw by default.
        names: name in the model -> name of the link or joint in the URDF, where they differ.
        sites: sites that become links, too, such as one between the fingertips.

    Raises:
        SimulationError: a body has joints that URDF cannot express: a ball or free joint, several joints, or one that
            is not at the body's origin or not zero in the model's reference configuration.
    """
    robot = ET.Element("robot", name=robot_name)
    bodies = subtree(model, root)
    for body in bodies:
        link = ET.SubElement(robot, "link", name=link_name(model, body))
        if model.body_mass[body] > 0:
            _inertial(link, model, body)
        for geom in range(model.body_geomadr[body], model.body_geomadr[body] + model.body_geomnum[body]):
            if _is_shown(model, geom) and int(model.geom_group[geom]) not in hidden_groups:
                _visual(link, model, geom, mesh_directory)
    for body in bodies[1:]:
        _joint(robot, model, body)
    for site in sites:
        _site(robot, model, site)
    _rename(robot, names or {})
    ET.indent(robot)
    return '<?xml version="1.0"?>\n' + ET.tostring(robot, encoding="unicode") + "\n"


def _joint(robot: ET.Element, model: Any, body: int) -> None:
    name = link_name(model, body)
    parent = link_name(model, int(model.body_parentid[body]))
    kind, joint = "fixed", -1
    if model.body_jntnum[body]:
        joint = int(model.body_jntadr[body])
        kind = {mujoco.mjtJoint.mjJNT_HINGE: "revolute", mujoco.mjtJoint.mjJNT_SLIDE: "prismatic"}.get(
            int(model.jnt_type[joint]), ""
        )
        displaced = model.jnt_pos[joint].any() or model.qpos0[model.jnt_qposadr[joint]] != 0
        if not kind or model.body_jntnum[body] > 1 or displaced:
            raise SimulationError(
                f"body '{name}' has joints that URDF cannot express; give one hinge or slide at its origin"
            )
    limited = joint >= 0 and bool(model.jnt_limited[joint])
    if kind == "revolute" and not limited:
        kind = "continuous"
    element = ET.SubElement(
        robot, "joint", name=model.jnt(joint).name if joint >= 0 else f"{name}{_FIXED}", type=kind
    )
    ET.SubElement(element, "parent", link=parent)
    ET.SubElement(element, "child", link=name)
    _origin(element, model.body_pos[body], model.body_quat[body])
    if joint >= 0:
        ET.SubElement(element, "axis", xyz=_numbers(model.jnt_axis[joint]))
    if kind in ("revolute", "prismatic"):
        low, high = model.jnt_range[joint] if limited else (-1e3, 1e3)
        ET.SubElement(
            element, "limit", lower=_number(low), upper=_number(high), effort=EFFORT, velocity=VELOCITY
        )


def _site(robot: ET.Element, model: Any, name: str) -> None:
    """Add a site as a link, fixed to the link of its body."""
    site = model.site(name)
    ET.SubElement(robot, "link", name=name)
    element = ET.SubElement(robot, "joint", name=f"{name}{_FIXED}", type="fixed")
    ET.SubElement(element, "parent", link=link_name(model, int(site.bodyid[0])))
    ET.SubElement(element, "child", link=name)
    _origin(element, site.pos, site.quat)


def _rename(robot: ET.Element, names: Mapping[str, str]) -> None:
    """Rename links and joints; a fixed joint is renamed with its child link."""
    for element in robot.iter():
        for key in ("name", "link"):
            stem = element.get(key, "").removesuffix(_FIXED)
            if stem in names:
                element.set(key, names[stem] + element.get(key, "").removeprefix(stem))


def _inertial(link: ET.Element, model: Any, body: int) -> None:
    inertial = ET.SubElement(link, "inertial")
    _origin(inertial, model.body_ipos[body], model.body_iquat[body])
    ET.SubElement(inertial, "mass", value=_number(model.body_mass[body]))
    ixx, iyy, izz = (_number(value) for value in model.body_inertia[body])
    ET.SubElement(inertial, "inertia", ixx=ixx, iyy=iyy, izz=izz, ixy="0", ixz="0", iyz="0")


def _is_shown(model: Any, geom: int) -> bool:
    """Return whether MuJoCo draws a geom: it is not transparent and in group 0 to 2 (others are collision shapes)."""
    return bool(model.geom_group[geom] <= 2 and _color(model, geom)[3] > 0)


def _visual(link: ET.Element, model: Any, geom: int, mesh_directory: Path | None) -> None:
    visual = ET.SubElement(link, "visual")
    position, quaternion = model.geom_pos[geom], model.geom_quat[geom]
    is_mesh = int(model.geom_type[geom]) == mujoco.mjtGeom.mjGEOM_MESH
    if is_mesh and mesh_directory is None:
        center = np.zeros(3)
        mujoco.mju_rotVecQuat(center, model.geom_aabb[geom, :3], quaternion)
        position = position + center
    _origin(visual, position, quaternion)
    geometry = ET.SubElement(visual, "geometry")
    if is_mesh and mesh_directory is not None:
        ET.SubElement(
            geometry, "mesh", filename=_export(model, int(model.geom_dataid[geom]), mesh_directory).as_uri()
        )
    else:
        _primitive(geometry, model, geom, is_mesh)
    number = geom - int(
        model.body_geomadr[model.geom_bodyid[geom]]
    )  # within its link: the same in every scene
    material = ET.SubElement(visual, "material", name=f"{link.get('name')}_{number}")
    ET.SubElement(material, "color", rgba=_numbers(_color(model, geom)))


def _primitive(geometry: ET.Element, model: Any, geom: int, is_mesh: bool) -> None:
    kind, size = int(model.geom_type[geom]), model.geom_size[geom]
    if is_mesh:
        ET.SubElement(geometry, "box", size=_numbers(2 * model.geom_aabb[geom, 3:]))
    elif kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        ET.SubElement(geometry, "sphere", radius=_number(size[0]))
    elif kind in (mujoco.mjtGeom.mjGEOM_CYLINDER, mujoco.mjtGeom.mjGEOM_CAPSULE):
        ET.SubElement(geometry, "cylinder", radius=_number(size[0]), length=_number(2 * size[1]))
    else:
        ET.SubElement(geometry, "box", size=_numbers(2 * size))


def _color(model: Any, geom: int) -> NDArray[np.float32]:
    material = int(model.geom_matid[geom])
    color: NDArray[np.float32] = model.geom_rgba[geom] if material < 0 else model.mat_rgba[material]
    return color


def _export(model: Any, mesh: int, directory: Path) -> Path:
    """Return the path of one mesh as binary STL, named by a digest of its content; write the file if it is missing."""
    vertex, vertices = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
    face, faces = model.mesh_faceadr[mesh], model.mesh_facenum[mesh]
    corners = model.mesh_vert[vertex : vertex + vertices][model.mesh_face[face : face + faces]]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    rows = np.zeros(faces, dtype=[("vectors", "<f4", (4, 3)), ("attributes", "<u2")])
    rows["vectors"] = np.concatenate([normals[:, None], corners], axis=1)
    content = b"\0" * 80 + struct.pack("<I", faces) + rows.tobytes()
    # A model may call its meshes `arm/link0`, and a stranger's `../link0`.
    name = re.sub(r"[^\w.-]", "_", model.mesh(mesh).name)[:SHOWN_NAME]
    path = directory / f"{name}-{hashlib.sha256(content).hexdigest()[:12]}.stl"
    if not path.is_file():
        directory.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content)
    return path


def _origin(element: ET.Element, position: NDArray[Any], quaternion: NDArray[Any]) -> None:
    ET.SubElement(element, "origin", xyz=_numbers(position), rpy=_numbers(_roll_pitch_yaw(quaternion)))


def _roll_pitch_yaw(quaternion: NDArray[Any]) -> NDArray[np.float64]:
    """Return roll, pitch, yaw (3,) [rad] about fixed axes, as in URDF, of a MuJoCo quaternion (w, x, y, z)."""
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, np.asarray(quaternion, dtype=np.float64))
    m = matrix.reshape(3, 3)
    level = np.hypot(m[0, 0], m[1, 0])
    if level < 1e-9:  # pitch is +-90 degrees: yaw is arbitrary, and set to zero
        return np.array([np.arctan2(-m[1, 2], m[1, 1]), np.arctan2(-m[2, 0], level), 0.0])
    return np.array([np.arctan2(m[2, 1], m[2, 2]), np.arctan2(-m[2, 0], level), np.arctan2(m[1, 0], m[0, 0])])


def _number(value: float) -> str:
    return f"{float(value) + 0.0:.7g}"  # + 0.0 turns -0 into 0


def _numbers(values: NDArray[Any]) -> str:
    return " ".join(_number(value) for value in values)
