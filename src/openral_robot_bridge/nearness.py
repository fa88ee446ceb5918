"""How near an arm is to itself and to what stands around it, and by which motion of its joints it comes nearer."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from openral_control.safety.joint_limits import Vector

TOUCH_M = 1e-9
"""[m] below which two geoms touch, and nothing says which way they part."""


def ordered(model: Any, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return pairs (k, 2) of geoms, the two of each in the order of their types.

    MuJoCo 3.3.0 exchanges the ends of what it measures between two geoms whose types are in the other order.
    """
    return np.take_along_axis(pairs, np.argsort(model.geom_type[pairs], axis=1, kind="stable"), axis=1)


class Nearness:
    """Distances of pairs of geoms in one world. Used from one thread."""

    def __init__(self, model: Any, data: Any, pairs: NDArray[np.int64]) -> None:
        """Take mujoco.MjModel, the mujoco.MjData that is placed before each call, and `ordered` pairs (k, 2)."""
        self._model, self._data = model, data
        self._places = data.geom_xpos
        self._pairs = pairs.tolist()
        self._spheres = model.geom_rbound[pairs].sum(axis=1)
        rows = np.arange(len(pairs))
        self._difference = np.zeros((len(pairs), model.ngeom))
        """(k, geoms) that gives the way between the middles of each pair: one product is quicker than two look-ups."""
        self._difference[rows, pairs[:, 0]] += 1.0
        self._difference[rows, pairs[:, 1]] -= 1.0

    def least(self, limit_m: float) -> tuple[float, int]:
        """Return the least distance [m], at most `limit_m`, and which pair has it; -1: none is nearer.

        Pairs are measured from the nearest bounding spheres on, until those are further apart than what was found.
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
        """Return (n,) [m/rad] by how much the distance of a pair grows with each joint.

        The data must have what `mj_comPos` finds.

        Args:
            pair: index.
            most_m: [m] more than the distance.
            dofs: (n,) of the joints.
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
