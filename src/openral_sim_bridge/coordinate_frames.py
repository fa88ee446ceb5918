"""Coordinate frames of a scene (the robot's links and its cameras) and camera intrinsics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree as ET

import mujoco
import numpy as np
from numpy.typing import NDArray

from openral_sim_bridge.backend import CameraModel, Frame, RobotModel


class LinkFrames:
    """Forward kinematics of the robot's links from its URDF, split into links behind moving joints and fixed links.

    It depends on joint positions alone, so that it serves any process that knows these.
    """

    def __init__(self, robot: RobotModel) -> None:
        """Read the joints of the robot's URDF."""
        joints = ET.fromstring(robot.urdf).findall("joint")
        fixed = [joint for joint in joints if joint.get("type") == "fixed"]
        moving = [joint for joint in joints if joint.get("type") != "fixed"]
        self._fixed = [robot.base, *(_frame(joint) for joint in fixed)]
        self._moving = [_frame(joint) for joint in moving]
        self.joint_names = tuple(str(joint.get("name")) for joint in moving)
        self._axes = np.array([_numbers(joint, "axis", "xyz") for joint in moving]).reshape(-1, 3)
        self._slides = np.array([joint.get("type") == "prismatic" for joint in moving], dtype=bool)
        self._positions = np.array([frame.position for frame in self._moving]).reshape(-1, 3)
        self._quaternions = np.array([frame.quaternion for frame in self._moving]).reshape(-1, 4)

    def fixed(self) -> list[Frame]:
        """Return the frame of the root link in the world, and that of each child link of a fixed joint."""
        return list(self._fixed)

    def moving(self, joint_positions: Mapping[str, float]) -> list[Frame]:
        """Return the frame of each child link of a moving joint, given the positions [rad or m] of `joint_names`."""
        values = np.array([joint_positions[name] for name in self.joint_names])
        shifts = _rotate(self._quaternions, self._axes * np.where(self._slides, values, 0.0)[:, None])
        half = np.where(self._slides, 0.0, values)[:, None] / 2
        turns = np.concatenate([self._axes * np.sin(half), np.cos(half)], axis=1)
        positions, quaternions = self._positions + shifts, _product(self._quaternions, turns)
        return [
            Frame(frame.parent, frame.child, position, quaternion)
            for frame, position, quaternion in zip(self._moving, positions, quaternions, strict=True)
        ]


def camera_frame(camera: CameraModel) -> Frame:
    """Return the optical frame (x right, y down, z forward; REP 103) of a camera."""
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, camera.rotation.flatten())
    w, x, y, z = quaternion
    position = np.asarray(camera.position)
    return Frame(camera.parent, optical_frame(camera.name), position, np.array([x, y, z, w]))


def optical_frame(camera: str) -> str:
    """Return the frame id of a camera's images."""
    return f"{camera}_optical_frame"


def intrinsics(camera: CameraModel) -> NDArray[np.float64]:
    """Return the camera matrix K (3, 3) [px], with square pixels and the principal point in the image's centre.

    MuJoCo specifies the vertical field of view, so f = (height / 2) / tan(fovy / 2).
    """
    focal = 0.5 * camera.height / np.tan(np.radians(camera.fovy_deg) / 2)
    return np.array([[focal, 0.0, camera.width / 2], [0.0, focal, camera.height / 2], [0.0, 0.0, 1.0]])


def _frame(joint: ET.Element) -> Frame:
    """Return the frame of a joint's child link in its parent link when the joint is at zero."""
    parent, child = joint.find("parent"), joint.find("child")
    assert parent is not None
    assert child is not None
    roll, pitch, yaw = _numbers(joint, "origin", "rpy") / 2
    about_x = np.array([[np.sin(roll), 0.0, 0.0, np.cos(roll)]])
    about_y = np.array([[0.0, np.sin(pitch), 0.0, np.cos(pitch)]])
    about_z = np.array([[0.0, 0.0, np.sin(yaw), np.cos(yaw)]])
    quaternion = _product(about_z, _product(about_y, about_x))[0]
    return Frame(
        str(parent.get("link")), str(child.get("link")), _numbers(joint, "origin", "xyz"), quaternion
    )


def _numbers(joint: ET.Element, element: str, attribute: str) -> NDArray[np.float64]:
    """Return the three numbers (3,) of an attribute; zeros, the default of URDF, if it is absent."""
    found = joint.find(element)
    text = found.get(attribute) if found is not None else None
    return np.array([float(word) for word in (text or "0 0 0").split()])


def _rotate(quaternions: NDArray[Any], vectors: NDArray[Any]) -> NDArray[np.float64]:
    """Return vectors (n, 3) rotated by unit quaternions (n, 4) x, y, z, w."""
    u, w = quaternions[:, :3], quaternions[:, 3:]
    twice = 2.0 * np.cross(u, vectors)
    turned: NDArray[np.float64] = vectors + w * twice + np.cross(u, twice)
    return turned


def _product(first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.float64]:
    """Return the products (n, 4) of quaternions (n, 4) x, y, z, w, which rotate by `second` and then by `first`."""
    u, a = first[:, :3], first[:, 3:]
    v, b = second[:, :3], second[:, 3:]
    scalar = a * b - np.sum(u * v, axis=1, keepdims=True)
    return np.concatenate([a * v + b * u + np.cross(u, v), scalar], axis=1)
