"""Coordinate frames of the scene: the robot's links, its cameras, and the numbers of `camera_info`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from openral_sim_bridge.backend import CameraModel
from openral_sim_bridge.urdf import link_name, subtree

WORLD = "world"


@dataclass(frozen=True)
class Frame:
    """Where frame `child` lies in frame `parent`."""

    parent: str
    child: str
    position: NDArray[np.float64]
    """(3,) [m]"""
    quaternion: NDArray[np.float64]
    """(4,) x, y, z, w"""


class LinkFrames:
    """Frames of the links below a root body, split into those that a joint moves and those that stay."""

    def __init__(self, model: Any, root: str) -> None:
        """Find the links. Raises SimulationError: the model has no body `root`."""
        bodies = subtree(model, root)
        self._names = {body: link_name(model, body) for body in bodies}
        self._root = bodies[0]
        self._fixed = np.array([body for body in bodies[1:] if not model.body_jntnum[body]], dtype=int)
        self._moving = np.array([body for body in bodies[1:] if model.body_jntnum[body]], dtype=int)
        self._parents = np.array(model.body_parentid)
        joints = [int(model.body_jntadr[body]) for body in self._moving]
        self.joint_names = tuple(model.jnt(joint).name for joint in joints)
        self._addresses = np.array([model.jnt_qposadr[joint] for joint in joints], dtype=int)

    def joint_positions(self, data: Any) -> NDArray[np.float64]:
        """Return qpos [rad] or [m] of `joint_names`."""
        positions: NDArray[np.float64] = data.qpos[self._addresses]
        return positions

    def fixed(self, data: Any) -> list[Frame]:
        """Return world to root, and every link that no joint moves."""
        base = Frame(
            WORLD, self._names[self._root], data.xpos[self._root].copy(), _xyzw(data.xquat[self._root])
        )
        return [base, *self._relative(data, self._fixed)]

    def moving(self, data: Any) -> list[Frame]:
        """Return every link that a joint moves."""
        return self._relative(data, self._moving)

    def _relative(self, data: Any, bodies: NDArray[np.int_]) -> list[Frame]:
        parents = self._parents[bodies]
        rotations = data.xmat[parents].reshape(-1, 3, 3)
        positions = np.einsum("nij,ni->nj", rotations, data.xpos[bodies] - data.xpos[parents])
        quaternions = _relative_quaternions(data.xquat[parents], data.xquat[bodies])
        return [
            Frame(self._names[int(parent)], self._names[int(body)], position, quaternion)
            for parent, body, position, quaternion in zip(
                parents, bodies, positions, quaternions, strict=True
            )
        ]


def camera_frame(camera: CameraModel) -> Frame:
    """Return the optical frame (x right, y down, z forward; REP 103) of a camera that stands in the world."""
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, camera.rotation.flatten())
    return Frame(WORLD, optical_frame(camera.name), np.asarray(camera.position), _xyzw(quaternion))


def optical_frame(camera: str) -> str:
    """Return the frame id of a camera's images."""
    return f"{camera}_optical_frame"


def intrinsics(camera: CameraModel) -> NDArray[np.float64]:
    """Return K (3, 3) [px]: square pixels, the principal point in the middle of the image.

    MuJoCo gives the vertical field of view, so f = (height / 2) / tan(fovy / 2).
    """
    focal = 0.5 * camera.height / np.tan(np.radians(camera.fovy_deg) / 2)
    return np.array([[focal, 0.0, camera.width / 2], [0.0, focal, camera.height / 2], [0.0, 0.0, 1.0]])


def _xyzw(quaternion: NDArray[Any]) -> NDArray[np.float64]:
    w, x, y, z = quaternion
    return np.array([x, y, z, w])


def _relative_quaternions(parents: NDArray[Any], children: NDArray[Any]) -> NDArray[np.float64]:
    """Return conj(parent) * child (n, 4) as x, y, z, w, from MuJoCo's (n, 4) w, x, y, z."""
    a, u = parents[:, :1], -parents[:, 1:]
    b, v = children[:, :1], children[:, 1:]
    scalar = a * b - np.sum(u * v, axis=1, keepdims=True)
    return np.concatenate([a * v + b * u + np.cross(u, v), scalar], axis=1)
