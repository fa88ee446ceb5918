"""Whether an arm keeps clear of itself and of what stands around it between postures, not only in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from openral_control.safety.joint_limits import Vector

MOST = 16
"""Parts of a way that are looked at; where they do not show that it is clear, it counts as not clear."""
SLACK = 0.1
"""Share of the way of two geoms that they keep apart as well: joints whose jerk is limited go in curves beside it. An
arm that was to keep 10 mm came as near as 4.8 mm in 100,000 random steps without it, and 13 mm in 80,000 with it."""
NEXT = np.array([1, 2, 0])
"""Which corner of a part follows each."""


class _Part(NamedTuple):
    """A part of the way, and the pairs of which it is not known that they are clear there."""

    corners: Vector
    """(3, n) [rad] joints between which the arm is."""
    poses: Vector
    """(3, geoms, 12) where each geom is [m] in the corners, and how it is turned."""
    pairs: NDArray[np.int64]
    """(k,)"""
    least: Vector
    """(k,) [m] that they are to stay apart."""

    def halves(self) -> list[_Part]:
        """Cut it in the middle of the side on which geoms go furthest. Poses there are a mean, as the way is short."""
        ways = self.poses[NEXT, :, :3] - self.poses[:, :, :3]
        a = int(np.einsum("ijk,ijk->ij", ways, ways).max(axis=1).argmax())
        b, c = NEXT[a], NEXT[NEXT[a]]
        cut = []
        for kept in (a, b):
            at = np.array([kept, c])
            cut.append(
                self._replace(
                    corners=np.vstack([(self.corners[a] + self.corners[b]) / 2.0, self.corners[at]]),
                    poses=np.concatenate([(self.poses[a] + self.poses[b])[None] / 2.0, self.poses[at]]),
                )
            )
        return cut


class PathClearance:
    """Pairs of geoms that must not come near each other, in one world. Used from one thread.

    A pair is clear in a part of the way where its distance in the middle is more than its geoms move towards each other
    up to the corners; where one is not known to be clear, the part is halved (conservative advancement: Mirtich 1996,
    "Impulse-based Dynamic Simulation of Rigid Body Systems").
    """

    def __init__(
        self, model: Any, data: Any, pairs: NDArray[np.int64], place: Callable[[Vector], None]
    ) -> None:
        """Take mujoco.MjModel and MjData, `nearness.ordered` pairs (k, 2), and what places the joints (n,) [rad]."""
        self._model, self._data, self._place = model, data, place
        self._pairs = pairs
        self._spheres = model.geom_rbound[pairs].sum(axis=1)
        self._boxes = model.geom_aabb
        """(geoms, 6) [m] middle and half of the sides of the box about each geom, in its frame."""
        # A point at radius r moves by 2 sin(a / 2) r where its geom turns by a, and |R1 - R2| = 2 sqrt(2) sin(a / 2).
        self._turning = model.geom_rbound / np.sqrt(2.0)

    def clear(self, corners: Vector, least_m: float) -> bool:
        """Tell whether all pairs are known to stay `least_m` [m] apart between three postures (3, n) [rad]."""
        parts = [self._whole(corners, least_m)]
        for _ in range(MOST):
            part = parts.pop()
            near = self._near(part) if len(part.pairs) else part
            if near is None:
                return False
            if len(near.pairs):
                parts += near.halves()
            if not parts:
                return True
        return False

    def _whole(self, corners: Vector, least_m: float) -> _Part:
        """Return the whole way, and the pairs whose bounding spheres do not stay apart however their geoms turn."""
        poses = np.array([self._poses(joints) for joints in corners])
        here = self._poses(corners.mean(axis=0))
        first, second = self._pairs.T
        ways = poses - here
        shifts = _longest(ways[:, first, :3] - ways[:, second, :3])
        apart = here[first, :3] - here[second, :3]
        gaps = np.sqrt(np.einsum("ij,ij->i", apart, apart)) - self._spheres
        pairs = np.flatnonzero(gaps < least_m + (1.0 + SLACK) * shifts)
        return _Part(corners, poses, pairs, least_m + SLACK * (shifts[pairs] + self._turns(ways, pairs)))

    def _near(self, part: _Part) -> _Part | None:
        """Leave out of a part the pairs that are clear in it; None: one of them is too near."""
        geoms = self._pairs[part.pairs].T
        ways = part.poses - self._poses(part.corners.mean(axis=0))
        shifts = _longest(ways[:, geoms[0], :3] - ways[:, geoms[1], :3])
        most = part.least + shifts + self._turns(ways, part.pairs)
        near, ends = [], np.zeros(6)
        for k, (first, second) in enumerate(geoms.T.tolist()):
            distance = mujoco.mj_geomDistance(self._model, self._data, first, second, most[k], ends)
            if distance < part.least[k]:
                return None
            if distance < most[k]:
                towards = (ends[3:] - ends[:3]) / distance
                if distance < part.least[k] + self._nearer(ways[:, geoms[:, k]], geoms[:, k], towards):
                    near.append(k)
        return part._replace(pairs=part.pairs[near], least=part.least[near])

    def _turns(self, ways: Vector, pairs: NDArray[np.int64]) -> Vector:
        """Return (k,) [m] how far points of pairs move at most as their geoms turn on ways (3, geoms, 12)."""
        geoms = self._pairs[pairs].T
        turns: Vector = (self._turning[geoms] * _longest(ways[:, geoms, 3:])).sum(axis=0)
        return turns

    def _nearer(self, ways: Vector, geoms: NDArray[np.int64], towards: Vector) -> float:
        """Return how much nearer [m] two geoms come at most.

        Both are convex, and a plane across the shortest way between them parts them: only what goes along that brings
        them nearer. What holds for the box about a geom holds for the geom.

        Args:
            ways: (3, 2, 12) what changes of their poses to each corner.
            geoms: (2,) of them.
            towards: (3,) unit vector from the first to the second.
        """
        turns = towards @ ways[..., 3:].reshape(3, 2, 3, 3)
        along = ways[..., :3] @ towards + (turns * self._boxes[geoms, :3]).sum(axis=-1)
        reach = (np.abs(turns) * self._boxes[geoms, 3:]).sum(axis=-1)
        return float((along[:, 0] - along[:, 1] + reach.sum(axis=1)).max())

    def _poses(self, joints: Vector) -> Vector:
        """Place the arm; return (geoms, 12), where each geom is [m] and how it is turned."""
        self._place(joints)
        return np.concatenate([self._data.geom_xpos, self._data.geom_xmat], axis=1)


def _longest(ways: Vector) -> Vector:
    """Return the greatest length of ways (3, ..., m) over the first axis."""
    return np.asarray(np.sqrt(np.einsum("...i,...i->...", ways, ways).max(axis=0)))
