"""Draws what an RViz layout shows of a deployment, by the offscreen renderer of the simulators.

RViz itself is not among what pip brings. Read of the layout are its background, its view (Orbit) and the displays Grid,
RobotModel, Pose, Path, MarkerArray (LINE_LIST and TEXT_VIEW_FACING) and Image, each where it is enabled, with its
colours and widths.
"""

from __future__ import annotations

import openral_sim_bridge  # noqa: F401  (chooses the OpenGL platform before mujoco is imported)

# isort: split
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import mujoco
import numpy as np
import yaml
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from openral_console.live.frame_tree import Pose
from openral_console.live.urdf_visuals import DrawnRobot, Shape
from openral_sim_bridge.rendering.renderer import AddedShape, OffscreenRenderer, profile

FOV_Y_DEG = 45.0
"""Vertical field of view of RViz's views."""
SIZE = (1200, 800)
"""[px] width and height."""
WALL_M = 20.0
"""[m] from the eye to what stands for the background."""
INSET = 260
"""[px] longest side of a camera's picture."""
FONT = "DejaVuSans.ttf"
Array = NDArray[np.float64]


@dataclass
class Seen:
    """What the topics of a layout said at one moment."""

    robot: DrawnRobot | None = None
    frames: Mapping[str, tuple[str, Pose]] = field(default_factory=dict)
    """Child -> parent and its pose there."""
    hand: Pose | None = None
    path: Sequence[tuple[float, float, float]] = ()
    """[m] in the fixed frame."""
    markers: Sequence[Any] = ()
    """visualization_msgs/Marker in the fixed frame."""
    images: Mapping[str, NDArray[np.uint8]] = field(default_factory=dict)
    """(H, W, 3) RGB, by topic."""


def draw(layout: str, seen: Seen) -> Image.Image:
    """Return the picture.

    Args:
        layout: text of an .rviz file.
        seen: what there is to be drawn.
    """
    manager = yaml.safe_load(layout)["Visualization Manager"]
    displays = [each for each in manager["Displays"] if each["Enabled"]]
    view = View(manager["Views"]["Current"])
    spec = mujoco.MjSpec()
    _add_background(spec, view, _colour(manager["Global Options"]["Background Color"]))
    spec.worldbody.add_camera(
        name="view", pos=view.eye, fovy=FOV_Y_DEG, xyaxes=[*view.axes[0], *view.axes[1]]
    )
    kinds = {each["Class"].rpartition("/")[2] for each in displays}
    if "RobotModel" in kinds and seen.robot is not None:
        _add_robot(spec, seen.robot, places_of(seen.frames))
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    with OffscreenRenderer(model, *SIZE, profile("film")) as renderer:
        renderer.added = list(_lines(displays, seen))
        picture = Image.fromarray(renderer.render(data, "view"))
    if "MarkerArray" in kinds:
        for marker in seen.markers:
            if marker.text:
                _write(picture, view, marker)
    _insets(picture, [seen.images[name] for name in _topics(displays, "Image") if name in seen.images])
    return picture


class View:
    """RViz's orbit around a point."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        pitch, yaw = float(told["Pitch"]), float(told["Yaw"])
        focal = np.array([told["Focal Point"][axis] for axis in "XYZ"], np.float64)
        back = np.array([math.cos(yaw) * math.cos(pitch), math.sin(yaw) * math.cos(pitch), math.sin(pitch)])
        right = np.array([-math.sin(yaw), math.cos(yaw), 0.0])
        self.eye: Array = focal + float(told["Distance"]) * back
        self.axes: Array = np.stack([right, np.cross(back, right), back])
        """(3, 3): to the right, upwards and backwards, a row each."""
        self._focal_px = 0.5 * SIZE[1] / math.tan(math.radians(FOV_Y_DEG) / 2)

    def pixel(self, point: Array) -> tuple[float, float, float]:
        """Return where a point (3,) [m] is seen [px], and how many pixels a metre has there."""
        right, up, back = self.axes @ (point - self.eye)
        scale = self._focal_px / -back
        return SIZE[0] / 2 + scale * right, SIZE[1] / 2 - scale * up, scale


def places_of(frames: Mapping[str, tuple[str, Pose]]) -> dict[str, Array]:
    """Return the transform (4, 4) of each frame in the frame at the root of its tree."""
    known: dict[str, Array] = {}

    def place(frame: str) -> Array:
        if frame not in frames:
            return np.eye(4)
        if frame not in known:
            parent, pose = frames[frame]
            known[frame] = place(parent) @ _matrix(pose)
        return known[frame]

    return {frame: place(frame) for frame in frames}


def _matrix(pose: Pose) -> Array:
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = pose.rotation(), pose.position
    return matrix


def _add_background(spec: Any, view: View, colour: tuple[float, float, float]) -> None:
    """Put a wall behind all that is seen; the light of the eye shows it in its own colour."""
    spec.stat.extent, spec.visual.map.zfar = 4.0, 50.0
    spec.visual.headlight.ambient, spec.visual.headlight.diffuse = [0.5] * 3, [0.5] * 3
    spec.add_material(name="wall", rgba=[*colour, 1.0], specular=0.0, shininess=0.0)
    behind = view.eye - WALL_M * view.axes[2]
    x, y, z, w = _quaternion(view.axes.T)
    size = [2 * WALL_M, 2 * WALL_M, 0.01]
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX, pos=behind, quat=[w, x, y, z], size=size, material="wall"
    )


def _add_robot(spec: Any, robot: DrawnRobot, places: Mapping[str, Array]) -> None:
    for number, path in enumerate(robot.meshes):
        spec.add_mesh(name=f"mesh{number}", file=str(path))
    for link, shapes in robot.links.items():
        at = places.get(link, np.eye(4))
        for shape in shapes:
            _add_shape(spec.worldbody, shape, at @ _matrix(shape.pose))


def _add_shape(body: Any, shape: Shape, at: Array) -> None:
    x, y, z, w = _quaternion(at[:3, :3])
    given: dict[str, Any] = {"pos": at[:3, 3], "quat": [w, x, y, z], "rgba": shape.color}
    geom = mujoco.mjtGeom
    if shape.kind == "mesh":
        body.add_geom(type=geom.mjGEOM_MESH, meshname=f"mesh{shape.mesh}", **given)
    elif shape.kind == "box":
        body.add_geom(type=geom.mjGEOM_BOX, size=[each / 2 for each in shape.size], **given)
    elif shape.kind == "cylinder":
        body.add_geom(type=geom.mjGEOM_CYLINDER, size=[shape.size[0], shape.size[1] / 2, 0], **given)
    else:
        body.add_geom(type=geom.mjGEOM_SPHERE, size=[shape.size[0], 0, 0], **given)


def _quaternion(rotation: Array) -> tuple[float, float, float, float]:
    found = np.zeros(4)
    mujoco.mju_mat2Quat(found, rotation.flatten())
    return float(found[1]), float(found[2]), float(found[3]), float(found[0])


def _lines(displays: Sequence[Mapping[str, Any]], seen: Seen) -> Iterator[AddedShape]:
    """Yield all that consists of lines, as capsules."""
    for display in displays:
        kind = display["Class"].rpartition("/")[2]
        if kind == "Grid":
            yield from _grid(display)
        elif kind == "Path":
            points = np.array(seen.path, np.float64).reshape(-1, 3)
            colour = (*_colour(display["Color"]), float(display["Alpha"]))
            yield from _capsules(pairwise(points), display["Line Width"] / 2, colour)
        elif kind == "Pose" and seen.hand is not None:
            at, length = _matrix(seen.hand), float(display["Axes Length"])
            for axis in range(3):
                end = at[:3, 3] + length * at[:3, axis]
                colour = (*np.eye(3)[axis].tolist(), 1.0)
                yield from _capsules([(at[:3, 3], end)], display["Axes Radius"], colour)
        elif kind == "MarkerArray":
            for marker in seen.markers:
                ends = np.array([(point.x, point.y, point.z) for point in marker.points]).reshape(-1, 2, 3)
                c = marker.color
                yield from _capsules(ends, marker.scale.x / 2, (c.r, c.g, c.b, c.a))


def _grid(display: Mapping[str, Any]) -> Iterator[AddedShape]:
    count, cell = int(display["Plane Cell Count"]), float(display["Cell Size"])
    half, colour = count * cell / 2, (*_colour(display["Color"]), float(display["Alpha"]))
    for number in range(count + 1):
        at = number * cell - half
        ends = [((at, -half, 0.0), (at, half, 0.0)), ((-half, at, 0.0), (half, at, 0.0))]
        yield from _capsules(ends, 0.001, colour)


def _capsules(ends: Any, radius: float, colour: tuple[float, ...]) -> Iterator[AddedShape]:
    for begin, end in ends:
        begin, end = np.asarray(begin, np.float64), np.asarray(end, np.float64)
        length = float(np.linalg.norm(end - begin))
        if not length:
            continue
        along = (end - begin) / length
        aside = np.cross(along, np.eye(3)[int(np.argmin(np.abs(along)))])
        aside /= np.linalg.norm(aside)
        rotation = np.stack([aside, np.cross(along, aside), along], axis=1)
        size = (float(radius), length / 2, 0.0)
        yield AddedShape("capsule", size, (begin + end) / 2, rotation, tuple(map(float, colour)))  # type: ignore[arg-type]


def _write(picture: Image.Image, view: View, marker: Any) -> None:
    """Write the words of a marker, its middle where its pose is, turned to the viewer."""
    at, c = marker.pose.position, marker.color
    x, y, scale = view.pixel(np.array([at.x, at.y, at.z]))
    font = ImageFont.truetype(
        FONT, max(8, round(1.37 * marker.scale.z * scale))
    )  # the letter A is 0.73 of the size
    colour = tuple(round(255 * each) for each in (c.r, c.g, c.b))
    ImageDraw.Draw(picture).multiline_text((x, y), marker.text, colour, font, anchor="mm", align="center")


def _insets(picture: Image.Image, images: Sequence[NDArray[np.uint8]]) -> None:
    """Put pictures of cameras into the lower left corner, side by side."""
    left = 0
    for pixels in images:
        image = Image.fromarray(pixels)
        scale = INSET / max(image.size)
        image = image.resize(
            (round(image.width * scale), round(image.height * scale)), Image.Resampling.LANCZOS
        )
        picture.paste(image, (left, picture.height - image.height))
        left += image.width


def _topics(displays: Sequence[Mapping[str, Any]], kind: str) -> list[str]:
    return [each["Topic"]["Value"] for each in displays if each["Class"].endswith(f"/{kind}")]


def _colour(text: str) -> tuple[float, float, float]:
    red, green, blue = (int(part) / 255 for part in text.split(";"))
    return red, green, blue
