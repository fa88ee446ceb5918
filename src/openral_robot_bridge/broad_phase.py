"""Lower bounds of the distances of many pairs of geoms at once, so that only few of them have to be measured."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from openral_control.safety.joint_limits import Vector


class BroadPhase:
    """Bounds of the distances of k pairs of geoms in one MuJoCo world; used from one thread.

    A geom that cannot move is bounded by a box along the world's axes, any other one by a sphere.
    """

    def __init__(self, model: Any, data: Any, pairs: NDArray[np.int64]) -> None:
        """Prepare the pairs.

        Args:
            model: mujoco.MjModel.
            data: mujoco.MjData; its kinematics must be computed before each call.
            pairs: (k, 2) of geoms, of which none is a plane.
        """
        count = len(pairs)
        self._places = data.geom_xpos.T
        self._difference = np.zeros((model.ngeom, count))
        """(geoms, k) matrix by which the geoms' positions are multiplied to give the offset of each pair.

        One product is faster than two indexed look-ups."""
        np.add.at(self._difference, (pairs[:, 0], np.arange(count)), 1.0)
        np.add.at(self._difference, (pairs[:, 1], np.arange(count)), -1.0)
        boxes, spheres = _bounding_shapes(model)
        self._halves = np.ascontiguousarray(boxes[pairs].sum(axis=1).T)
        """(3, k) [m] half extents of the boxes of each pair; 0 where both geoms can move."""
        self.radii = spheres[pairs].sum(axis=1)
        """(k,) [m] by which the distance of a pair may be less than the root of `squares`."""
        self._apart, self._squares = np.empty((3, count)), np.empty(count)

    def squares(self) -> Vector:
        """Return (k,) [m²] the squares of lower bounds of the distances, to which `radii` were added.

        A bound, which is the root less the radius, says something where it is above 0. The array is overwritten by the
        next call.
        """
        apart = self._apart
        np.dot(self._places, self._difference, out=apart)
        np.abs(apart, out=apart)
        np.subtract(apart, self._halves, out=apart)
        np.maximum(apart, 0.0, out=apart)
        np.multiply(apart, apart, out=apart)
        return np.add.reduce(apart, axis=0, out=self._squares)


def _bounding_shapes(model: Any) -> tuple[Vector, Vector]:
    """Return half extents (geoms, 3) [m] of boxes along the world's axes, and radii (geoms,) [m] of spheres.

    Both are centred on the geom's position. One of them bounds a geom and the other one is 0.
    """
    world = mujoco.MjData(model)
    mujoco.mj_kinematics(model, world)
    bodies = model.geom_bodyid
    fixed = (model.body_weldid[bodies] == 0) & (model.body_mocapid[model.body_rootid[bodies]] < 0)
    reach = np.abs(model.geom_aabb[:, :3]) + model.geom_aabb[:, 3:]
    extents = np.einsum("ijk,ik->ij", np.abs(world.geom_xmat).reshape(-1, 3, 3), reach)
    boxes = np.minimum(extents, model.geom_rbound[:, None])
    return np.where(fixed[:, None], boxes, 0.0), np.where(fixed, 0.0, model.geom_rbound)
