"""The arm keeps its distance to itself and to what stands around it."""

from __future__ import annotations

from openral_control.safety.step import HALVINGS, ArmGeometry, Step


class DistanceCheck:
    """Slower below one distance, no further below another; away from things it may always go."""

    name = "distance"

    def __init__(self, geometry: ArmGeometry, slow_m: float, stop_m: float) -> None:
        """Take the distances [m]."""
        self._geometry, self._slow, self._stop = geometry, slow_m, stop_m

    def share(self, step: Step) -> float:
        """Return the share by which the arm is slowed, else 0 where even a quarter of the way comes too near."""
        now = self._geometry.distance(step.start, self._slow)
        for share in HALVINGS:
            end = step.start + share * (step.wanted - step.start)
            distance = self._geometry.distance(end, self._slow)
            if distance >= min(now, self._slow):
                return share
            if distance > self._stop:
                return min(share, max((distance - self._stop) / (self._slow - self._stop), HALVINGS[-1]))
        return 0.0
