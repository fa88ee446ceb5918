"""The arm stays away from postures in which its hand cannot be moved every way."""

from __future__ import annotations

import numpy as np

from openral_control.safety.step import HALVINGS, ArmGeometry, Step

LEAVING = 2.0
"""Times the thresholds on a way that leads out of a singularity, as in MoveIt Servo."""


class SingularityCheck:
    """Slower from one condition number on, no further from another; out of a singularity the arm may go."""

    name = "singularity"

    def __init__(self, geometry: ArmGeometry, slow: float, stop: float) -> None:
        """Take the condition numbers."""
        self._geometry, self._slow, self._stop = geometry, slow, stop

    def share(self, step: Step) -> float:
        """Return the share by which the arm is slowed, else 0 where even a quarter of the way leads too far."""
        now = self._geometry.condition(step.start)
        for share in HALVINGS:
            end = self._geometry.condition(step.start + share * (step.wanted - step.start))
            times = LEAVING if end < now else 1.0
            slow, stop = times * self._slow, times * self._stop
            if end <= slow or (end < now and not np.isfinite(now)):
                return share
            if end < stop:
                return min(share, max((stop - end) / (stop - slow), HALVINGS[-1]))
            if end < now:
                return min(share, HALVINGS[-1])
        return 0.0
