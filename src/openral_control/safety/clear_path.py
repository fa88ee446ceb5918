"""The clear path check: the arm keeps its distance between control steps too, and where it lags behind its target."""

from __future__ import annotations

import numpy as np

from openral_control.safety.distance import RESERVE_M
from openral_control.safety.joint_limits import Vector
from openral_control.safety.joint_step import ArmGeometry


class ClearPathCheck:
    """Requires the stop distance between the arm's measured posture, its target and the posture at which it can stop.

    The posture of an arm that lags is a mean of its recent targets. So it stays between those three postures as long
    as the arm is led on to the one at which it can stop.
    """

    name = "path"

    def __init__(self, geometry: ArmGeometry, stop_m: float) -> None:
        """Take the arm's geometry and the least allowed distance [m]."""
        self._geometry, self._stop = geometry, stop_m

    def free(self, measured: Vector, end: Vector, rest: Vector) -> bool:
        """Return whether all postures between three postures (n,) [rad] are known to be free.

        It is true as well where the measured posture is nearer than the stop distance and its reserve: then only
        `DistanceCheck` applies, which lets the arm move away.
        """
        clear = self._geometry.clear_between(np.array([measured, end, rest]), self._stop)
        near_m = self._stop + RESERVE_M
        return clear or self._geometry.distance(measured, near_m) < near_m
