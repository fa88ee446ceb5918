"""Forward kinematics of a URDF, from its frames alone."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from openral_sim_bridge.backend import Frame


def link_poses(frames: Iterable[Frame], root: str = "world") -> dict[str, np.ndarray]:
    """Poses (4, 4) of all links below `root`."""
    poses, waiting = {root: np.eye(4)}, list(frames)
    while found := [frame for frame in waiting if frame.parent in poses]:
        for frame in found:
            waiting.remove(frame)
            poses[frame.child] = poses[frame.parent] @ pose(frame)
    return poses


def pose(frame: Frame) -> np.ndarray:
    """(4, 4) of the child in the parent."""
    x, y, z, w = frame.quaternion
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    matrix = np.eye(4)
    matrix[:3, :3] += 2 * w * skew + 2 * skew @ skew
    matrix[:3, 3] = frame.position
    return matrix
