"""The robot as its URDF describes it: links and their visual shapes.

Joints are not read: `/tf` has the poses of the links in their parents, and the scene is nested as the frames are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree as ET

from openral_console.live.frame_tree import Pose
from openral_core.errors import ContractError

MAX_URDF = 20_000_000
"""Most characters of a URDF."""
MAX_PARTS = 4096
"""Most links, and most visuals of all of them: every page goes through the links ten times a second."""
MAX_MESH = 100 * 1024 * 1024
"""[bytes] greatest size of a mesh that is served."""
GREY = (0.75, 0.76, 0.77, 1.0)
"""(r, g, b, a) 0..1 of a shape without a colour."""


@dataclass(frozen=True)
class Shape:
    """One visual of a link."""

    kind: str
    """box, cylinder, sphere or mesh."""
    size: tuple[float, ...]
    """[m] edges of a box; radius and length of a cylinder; radius of a sphere; scale of a mesh."""
    pose: Pose
    color: tuple[float, float, float, float]
    """(r, g, b, a) 0..1"""
    mesh: int = -1
    """Index into `DrawnRobot.meshes`."""


@dataclass(frozen=True)
class DrawnRobot:
    """The links of a URDF with their shapes."""

    links: Mapping[str, tuple[Shape, ...]]
    meshes: tuple[Path, ...]
    """Files on this machine; those that lie elsewhere are left out."""
    missing: int
    """Meshes that are not on this machine, or of a kind that is not drawn."""


def read_urdf(text: str) -> DrawnRobot:
    """Read a URDF.

    Raises:
        ContractError: it is none.
    """
    if len(text) > MAX_URDF:
        raise ContractError(f"robot_description has {len(text)} characters; send at most {MAX_URDF}")
    try:
        root = ET.fromstring(text)
    except ET.ParseError as error:
        raise ContractError(f"robot_description is no XML: {error}") from error
    for what, path in (("links", "link"), ("visuals", "link/visual")):
        if (count := len(root.findall(path))) > MAX_PARTS:
            raise ContractError(f"robot_description has {count} {what}; send at most {MAX_PARTS}")
    colors = {
        str(material.get("name")): color
        for material in root.iter("material")
        if (color := _color(material)) is not None
    }
    meshes: dict[Path, int] = {}
    links: dict[str, tuple[Shape, ...]] = {}
    missing = 0
    for link in root.findall("link"):
        shapes = []
        for visual in link.findall("visual"):
            shape = _shape(visual, colors, meshes)
            missing += shape is None
            shapes += [shape] if shape is not None else []
        links[str(link.get("name"))] = tuple(shapes)
    return DrawnRobot(links, tuple(meshes), missing)


def _shape(
    visual: ET.Element, colors: Mapping[str, tuple[float, float, float, float]], meshes: dict[Path, int]
) -> Shape | None:
    geometry, material = visual.find("geometry"), visual.find("material")
    if geometry is None or not len(geometry):
        return None
    color = GREY
    if material is not None:
        color = _color(material) or colors.get(str(material.get("name")), GREY)
    pose, drawn = _origin(visual.find("origin")), geometry[0]
    if drawn.tag == "mesh":
        path = _mesh_file(drawn.get("filename", ""))
        if path is None:
            return None
        scale = _numbers(drawn.get("scale"), (1.0, 1.0, 1.0))
        return Shape("mesh", scale, pose, color, meshes.setdefault(path, len(meshes)))
    sizes = {
        "box": _numbers(drawn.get("size"), (0.01, 0.01, 0.01)),
        "cylinder": (_number(drawn.get("radius")), _number(drawn.get("length"))),
        "sphere": (_number(drawn.get("radius")),),
    }
    return Shape(drawn.tag, sizes[drawn.tag], pose, color) if drawn.tag in sizes else None


def _mesh_file(uri: str) -> Path | None:
    """Return the file of a mesh that a browser can draw; the description may name any file, so only STL is taken."""
    try:
        parts = urlsplit(uri)
        if parts.scheme not in ("", "file"):
            return None
        path = Path(unquote(parts.path))
        drawn = path.suffix.lower() == ".stl" and path.is_file() and path.stat().st_size <= MAX_MESH
    except (OSError, ValueError):  # as in a folder that this user may not enter
        return None
    return path if drawn else None


def _color(material: ET.Element) -> tuple[float, float, float, float] | None:
    element = material.find("color")
    if element is None:
        return None
    red, green, blue, alpha = _numbers(element.get("rgba"), GREY)
    return red, green, blue, alpha


def _origin(element: ET.Element | None) -> Pose:
    if element is None:
        return Pose()
    x, y, z = _numbers(element.get("xyz"), (0.0, 0.0, 0.0))
    roll, pitch, yaw = _numbers(element.get("rpy"), (0.0, 0.0, 0.0))
    sr, cr, sp, cp, sy, cy = (f(angle / 2) for angle in (roll, pitch, yaw) for f in (math.sin, math.cos))
    # R = Rz(yaw) Ry(pitch) Rx(roll), as URDF has it.
    quaternion = (
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    )
    return Pose((x, y, z), quaternion)


def _number(text: str | None) -> float:
    return _numbers(text, (0.01,))[0]


def _numbers(text: str | None, default: tuple[float, ...]) -> tuple[float, ...]:
    """Return the numbers of an attribute.

    Raises:
        ContractError: they are none, or of another count than the default's.
    """
    if text is None:
        return default
    try:
        numbers = tuple(float(word) for word in text.split())
    except ValueError as error:
        raise ContractError(f"robot_description: {text!r} is no list of numbers") from error
    if len(numbers) != len(default) or not all(math.isfinite(number) for number in numbers):
        raise ContractError(f"robot_description: {text!r} should be {len(default)} finite numbers")
    return numbers
