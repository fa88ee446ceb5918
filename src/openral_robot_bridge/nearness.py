"""Distance of an arm to itself and to fixed objects around it, and its gradient with respect to the joints."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from openral_control.safety.joint_limits import Vector
from openral_robot_bridge.broad_phase import BroadPhase

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
            pairs: (k, 2) of geoms, from `ordered`, of which none is a plane.
        """
        self._model, self._data = model, data
        self._pairs = pairs.tolist()
        self._broad = BroadPhase(model, data, pairs)
        self._nearer: dict[float, Vector] = {}
        """Limit [m] -> (k,) [m²] the squares of the bounds that are below it."""

    def least(self, limit_m: float) -> tuple[float, int]:
        """Return the least distance [m], at most `limit_m`, and the index of its pair; -1: no pair is nearer.

        Pairs are measured in the order of the lower bounds of their distances, until those exceed the least distance
        found.
        """
        squares, radii = self._broad.squares(), self._broad.radii
        if limit_m not in self._nearer:
            self._nearer[limit_m] = np.square(radii + limit_m)
        near = (squares < self._nearer[limit_m]).nonzero()[0]
        if not len(near):
            return limit_m, -1
        bounds = np.sqrt(squares[near]) - radii[near]
        least, nearest = limit_m, -1
        for bound, pair in sorted(zip(bounds.tolist(), near.tolist(), strict=True)):
            # A bound that is not above 0 says nothing about how deep geoms overlap.
            if bound >= least and bound > 0.0:
                break
            first, second = self._pairs[pair]
            # With a negative limit it would not measure geoms that overlap.
            distance = mujoco.mj_geomDistance(self._model, self._data, first, second, max(least, 0.0), None)
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
