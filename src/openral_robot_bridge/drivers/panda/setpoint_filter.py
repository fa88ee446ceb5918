"""From targets a few hundred times a second to a position each millisecond, as a Panda's own controller wants it.

Targets come when the driver's process gets to it, the arm's milliseconds come by themselves. A critically damped filter
between them follows without lag at constant speed, and what a target is late or early does not become a jump: at 0.5
rad/s one millisecond changes the acceleration by 1.3 rad/s². Its acceleration and jerk stay within the arm's limits.
"""

from __future__ import annotations

import numpy as np

from openral_robot_bridge.drivers.shared_block import Vector

CYCLE_S = 1e-3
"""[s] between two positions."""
_PULL = 50.0
"""[rad/s] natural frequency of the filter."""
_STILL_RAD_S, _STILL_RAD_S2 = 5e-4, 0.1
"""Velocity and acceleration below which joints are at rest."""


class SetpointFilter:
    """Position, velocity and acceleration of n joints as they are commanded."""

    def __init__(self, velocity: Vector, acceleration: Vector, jerk: Vector) -> None:
        """Take the limits (n,) [rad/s], [rad/s²], [rad/s³] that the joints are led within, and begin at 0."""
        self._greatest, self._acceleration, self._jerk_step = velocity, acceleration, jerk * CYCLE_S
        self.begin(np.zeros(len(velocity)))

    @property
    def is_still(self) -> bool:
        """Whether the joints are commanded to stand."""
        slow, steady = np.abs(self._velocity) < _STILL_RAD_S, np.abs(self._rate) < _STILL_RAD_S2
        return bool(slow.all() and steady.all())

    def begin(self, positions: Vector) -> None:
        """Stand at positions (n,) [rad]."""
        self._position = np.array(positions, dtype=np.float64)
        self._velocity, self._rate = np.zeros_like(self._position), np.zeros_like(self._position)

    def follow(self, positions: Vector, velocities: Vector) -> Vector:
        """Return the position (n,) [rad] of the next cycle towards a target (n,) [rad] that moves at (n,) [rad/s].

        The joints come near to it no faster than half of their greatest acceleration can brake.
        """
        off = positions - self._position
        way = np.minimum(0.5 * _PULL * np.abs(off), np.sqrt(self._acceleration * np.abs(off)))
        return self._lead(velocities + np.sign(off) * way)

    def brake(self) -> Vector:
        """Return the position (n,) [rad] of the next cycle on the way to rest."""
        return self._lead(np.zeros_like(self._velocity))

    def _lead(self, velocities: Vector) -> Vector:
        """Bring the velocities nearer to (n,) [rad/s] by one cycle."""
        wanted = np.clip(velocities, -self._greatest, self._greatest)
        rate = np.clip(2.0 * _PULL * (wanted - self._velocity), -self._acceleration, self._acceleration)
        self._rate += np.clip(rate - self._rate, -self._jerk_step, self._jerk_step)
        self._velocity += self._rate * CYCLE_S
        self._position += self._velocity * CYCLE_S
        return self._position
