"""The frames of the graph: the newest pose of each in its parent frame."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

MAX_FRAMES, MAX_NAME = 4096, 256
"""Most frames that are kept, those of the domain's other robots among them; characters of the name of one."""


@dataclass(frozen=True)
class Pose:
    """Pose of a frame in its parent."""

    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """[m]"""
    quaternion: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)
    """(x, y, z, w)"""

    @property
    def is_finite(self) -> bool:
        """Whether all its numbers are finite."""
        return all(map(math.isfinite, (*self.position, *self.quaternion)))

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
        """Add or replace the poses of some frames; beyond `MAX_FRAMES` no new one is taken, nor one of a long name.

        A pose that is not finite is left out, as by tf2: nothing differs from it, so that its frame would stay there.
        """
        known, news = self.poses, {child: found for child, found in news.items() if found[1].is_finite}
        fresh = [child for child in news if child not in known]
        if not fresh:
            self.poses = {**known, **news}
            return
        short = (child for child in fresh if max(len(child), len(news[child][0])) <= MAX_NAME)
        left_out = set(fresh).difference(islice(short, max(0, MAX_FRAMES - len(known))))
        self.poses = {**known, **{child: pose for child, pose in news.items() if child not in left_out}}
