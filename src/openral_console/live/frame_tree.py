"""The frames of the graph: the newest pose of each in its parent frame."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Pose:
    """Pose of a frame in its parent."""

    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """[m]"""
    quaternion: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)
    """(x, y, z, w)"""

    def rotation(self) -> list[list[float]]:
        """Return the rotation matrix (3, 3), row by row; the identity for a quaternion of zero length."""
        norm = math.sqrt(sum(value * value for value in self.quaternion))
        if not norm > 0:
            return [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        x, y, z, w = (value / norm for value in self.quaternion)
        return [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]


class Frames:
    """The newest pose of every frame in its parent. One thread writes, others read."""

    def __init__(self) -> None:
        self.poses: Mapping[str, tuple[str, Pose]] = {}
        """Child -> parent and pose; replaced, never changed."""

    def update(self, news: Mapping[str, tuple[str, Pose]]) -> None:
        """Add or replace the poses of some frames."""
        self.poses = {**self.poses, **news}
