"""The arm keeps its distance on its way, also where it lags behind what it is led on."""

from __future__ import annotations

import numpy as np

from openral_control.safety.distance import RESERVE_M
from openral_control.safety.joint_limits import Vector
from openral_control.safety.joint_step import ArmGeometry


class ClearPathCheck:
    """Between where the arm is, where it is led and where it could come to rest, nothing is nearer than allowed.

    An arm that lags is at a mean of where it was led shortly before, so it stays between those three as long as it is
    led on to where it could come to rest.
    """

    name = "path"

    def __init__(self, geometry: ArmGeometry, stop_m: float) -> None:
        """Take the distance [m] below which the arm may not come."""
        self._geometry, self._stop = geometry, stop_m

    def free(self, measured: Vector, end: Vector, rest: Vector) -> bool:
        """Tell whether the way between three postures (n,) [rad] is known to be free.

        An arm that is as near to things as that already may go where `DistanceCheck` lets it: away.
        """
        clear = self._geometry.clear_between(np.array([measured, end, rest]), self._stop)
        near_m = self._stop + RESERVE_M
        return clear or self._geometry.distance(measured, near_m) < near_m
