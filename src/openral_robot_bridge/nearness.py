"""Distance of an arm to itself and to fixed objects around it, and its gradient with respect to the joints."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from openral_control.safety.joint_limits import Vector

TOUCH_M = 1e-9
"""[m] distance below which two geoms touch, so that the direction of separation is undefined."""


def ordered(model: Any, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return pairs (k, 2) of geoms, each sorted by geom type.

    For pairs in the opposite order, `mj_geomDistance` of MuJoCo 3.3.0 exchanges the end points of its segment.
    """
    return np.take_along_axis(pairs, np.argsort(model.geom_type[pairs], axis=1, kind="stable"), axis=1)


class Nearness:
    """Distances of pairs of geoms in one MuJoCo world; used from one thread."""

    def __init__(self, model: Any, data: Any, pairs: NDArray[np.int64]) -> None:
        """Prepare the pairs.

        Args:
            model: mujoco.MjModel.
            data: mujoco.MjData; its kinematics must be computed before each call.
            pairs: (k, 2) of geoms, from `ordered`.
        """
        self._model, self._data = model, data
        self._places = data.geom_xpos
        self._pairs = pairs.tolist()
        self._spheres = model.geom_rbound[pairs].sum(axis=1)
        rows = np.arange(len(pairs))
        self._difference = np.zeros((len(pairs), model.ngeom))
        """(k, geoms) matrix whose product with the geoms' positions gives the offset of each pair.

        One product is faster than two indexed look-ups."""
        self._difference[rows, pairs[:, 0]] += 1.0
        self._difference[rows, pairs[:, 1]] -= 1.0

    def least(self, limit_m: float) -> tuple[float, int]:
        """Return the least distance [m], at most `limit_m`, and the index of its pair; -1: no pair is nearer.

        Pairs are measured in the order of the distances of their bounding spheres, until those exceed the least
        distance found.
        """
        apart = self._difference @ self._places
        squares = np.einsum("ij,ij->i", apart, apart)
        near = np.flatnonzero(squares < np.square(self._spheres + limit_m))
        bounds = np.sqrt(squares[near]) - self._spheres[near]
        least, nearest = limit_m, -1
        for bound, pair in sorted(zip(bounds.tolist(), near.tolist(), strict=True)):
            if bound >= least:
                break
            distance = mujoco.mj_geomDistance(self._model, self._data, *self._pairs[pair], least, None)
            if distance < least:
                least, nearest = distance, pair
        return least, nearest

    def slope(self, pair: int, most_m: float, dofs: NDArray[np.int64]) -> Vector:
        """Return (n,) [m/rad] the gradient of the distance of a pair with respect to the joints.

        `mj_comPos` must have been called on the data.

        Args:
            pair: index of the pair.
            most_m: [m] upper bound of the distance.
            dofs: (n,) indices of the joints' degrees of freedom.
        """
        model, ends = self._model, np.zeros(6)
        first, second = self._pairs[pair]
        distance = mujoco.mj_geomDistance(model, self._data, first, second, most_m, ends)
        apart = ends[3:] - ends[:3]
        length = float(np.linalg.norm(apart))
        if length < TOUCH_M:
            return np.zeros(len(dofs))
        normal = apart / (length if distance > 0.0 else -length)
        rows = np.zeros((2, 3, model.nv))
        for row, geom, point in ((rows[0], first, ends[:3]), (rows[1], second, ends[3:])):
            mujoco.mj_jac(model, self._data, row, None, point, int(model.geom_bodyid[geom]))
        slope: Vector = (normal @ (rows[1] - rows[0]))[dofs]
        return slope
