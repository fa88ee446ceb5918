"""The robot in three dimensions: the shapes of its URDF, nested as the frames of `/tf` are, and moved as they move."""

from __future__ import annotations

import math

from nicegui import ui
from nicegui.elements.scene.scene_object3d import Object3D

from openral_console.live.deployment import LiveDeployment
from openral_console.live.frame_tree import Pose
from openral_console.live.urdf_visuals import DrawnRobot, Shape

STEP = 1e-4
"""Least change of a position [m] or of a quaternion's elements that is shown."""


class RobotScene:
    """One scene."""

    def __init__(self, deployment: LiveDeployment) -> None:
        """Create the elements for a deployment."""
        self._deployment = deployment
        self._groups: dict[str, Object3D] = {}
        self._shown: dict[str, Pose] = {}
        self._made_of: tuple[DrawnRobot | None, frozenset[tuple[str, str]]] = (None, frozenset())
        with ui.element("section").classes("c-panel"):
            with ui.element("div").classes("c-line"):
                ui.label("Robot").classes("c-title")
                self._words = ui.label("").classes("c-soft")
            self._scene = ui.scene(background_color="#ffffff", grid=(4, 20), fps=15).props("id=robot")
            self._scene.on("init", js_handler=f"() => openralDrawOnChange(getElement({self._scene.id}))")

    def update(self) -> None:
        """Show the present state."""
        robot, poses = self._deployment.robot, self._deployment.frames.poses
        if robot is None:
            self._words.set_text("no description is heard")
            return
        wanted = _robot_frames(robot, {child: parent for child, (parent, _) in poses.items()})
        if not wanted:
            return
        made_of = (robot, frozenset((child, poses[child][0]) for child in wanted))
        if made_of != self._made_of:
            self._made_of = made_of
            self._build(robot, wanted)
            self._look_at({child: poses[child] for child in wanted})
        for child in wanted:
            pose = poses[child][1]
            if _differs(pose, self._shown.get(child)):
                self._shown[child] = pose
                self._groups[child].move(*pose.position)
                self._groups[child].rotate_R(pose.rotation())

    def _build(self, robot: DrawnRobot, frames: list[str]) -> None:
        """Make a group for each frame inside its parent's, with the shapes of its link."""
        poses = self._deployment.frames.poses
        self._scene.clear()
        self._groups.clear()
        self._shown.clear()
        self._words.set_text(f"{robot.missing} meshes are not on this machine" if robot.missing else "")
        with self._scene:
            for frame in frames:
                parent = poses[frame][0]
                group = self._scene.group()
                if parent in self._groups:
                    group.attach(self._groups[parent])
                self._groups[frame] = group
                for shape in robot.links.get(frame, ()):
                    self._add(shape, group)

    def _add(self, shape: Shape, group: Object3D) -> None:
        red, green, blue, alpha = shape.color
        color = f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}"
        with group:
            if shape.kind == "mesh":
                made: Object3D = self._scene.stl(f"/mesh/{shape.mesh}").scale(*shape.size)
            elif shape.kind == "box":
                width, depth, height = shape.size
                made = self._scene.box(width, depth, height)
            elif shape.kind == "sphere":
                made = self._scene.sphere(shape.size[0], 24, 12)
            else:
                made = self._scene.cylinder(shape.size[0], shape.size[0], shape.size[1], 24)
            made.material(color, alpha)
            made.move(*shape.pose.position)
            rotation = shape.pose.rotation()
            if shape.kind == "cylinder":  # three.js has its axis along y, URDF along z
                rotation = [[row[0], row[2], -row[1]] for row in rotation]
            made.rotate_R(rotation)

    def _look_at(self, poses: dict[str, tuple[str, Pose]]) -> None:
        """Place the camera so that the robot fills the view."""
        places = _places(poses)
        low, high = ([f(axis) for axis in zip(*places, strict=True)] for f in (min, max))
        middle = [(a + b) / 2 for a, b in zip(low, high, strict=True)]
        reach = max(math.dist(low, high), 0.3)
        x, y, z = middle
        self._scene.move_camera(x + 0.62 * reach, y - 0.7 * reach, z + 0.4 * reach, x, y, z, duration=0)


def _robot_frames(robot: DrawnRobot, parents: dict[str, str]) -> list[str]:
    """Return the frames that are drawn, parents first: the robot's links and their ancestors."""
    wanted: dict[str, None] = {}

    def take(frame: str, depth: int = 0) -> None:
        if frame in parents and frame not in wanted and depth < 200:
            take(parents[frame], depth + 1)
            wanted[frame] = None

    for link in robot.links:
        take(link)
    return list(wanted)


def _places(poses: dict[str, tuple[str, Pose]]) -> list[list[float]]:
    """Return the position (3,) [m] of each frame in the root frame; parents come before children."""
    known: dict[str, tuple[list[list[float]], list[float]]] = {}
    identity = Pose().rotation()
    for child, (parent, pose) in poses.items():
        turn, place = known.get(parent, (identity, [0.0, 0.0, 0.0]))
        at = [place[i] + sum(turn[i][j] * pose.position[j] for j in range(3)) for i in range(3)]
        own = pose.rotation()
        rotation = [[sum(turn[i][k] * own[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
        known[child] = rotation, at
    return [place for _, place in known.values()]


def _differs(pose: Pose, shown: Pose | None) -> bool:
    if shown is None:
        return True
    pairs = zip((*pose.position, *pose.quaternion), (*shown.position, *shown.quaternion), strict=True)
    return any(abs(a - b) > STEP for a, b in pairs)
