"""Interpolates targets at a few hundred hertz to the position per millisecond that a Panda's own controller takes.

Targets come at the irregular times of the driver's process, the arm's cycles at regular ones. A critically damped
filter follows without lag at constant speed, and smooths the timing errors of targets: at 0.5 rad/s, 1 ms changes the
acceleration by 1.3 rad/s². Velocity, acceleration and jerk stay within the arm's limits.
"""

from __future__ import annotations

import numpy as np

from openral_robot_bridge.drivers.shared_block import Vector

CYCLE_S = 1e-3
"""[s] between two positions."""
_PULL = 50.0
"""[rad/s] natural frequency of the filter."""
_STILL_RAD_S, _STILL_RAD_S2 = 5e-4, 0.1
"""[rad/s] velocity and [rad/s²] acceleration below which joints count as at rest."""


class SetpointFilter:
    """Commanded position, velocity and acceleration of n joints."""

    def __init__(self, velocity: Vector, acceleration: Vector, jerk: Vector) -> None:
        """Take the joints' limits (n,) [rad/s], (n,) [rad/s²] and (n,) [rad/s³], and begin at position 0."""
        self._greatest, self._acceleration, self._jerk_step = velocity, acceleration, jerk * CYCLE_S
        self.begin(np.zeros(len(velocity)))

    @property
    def is_still(self) -> bool:
        """Whether the commanded positions are at rest."""
        slow, steady = np.abs(self._velocity) < _STILL_RAD_S, np.abs(self._rate) < _STILL_RAD_S2
        return bool(slow.all() and steady.all())

    def begin(self, positions: Vector) -> None:
        """Begin at rest at positions (n,) [rad]."""
        self._position = np.array(positions, dtype=np.float64)
        self._velocity, self._rate = np.zeros_like(self._position), np.zeros_like(self._position)

    def follow(self, positions: Vector, velocities: Vector) -> Vector:
        """Return the position (n,) [rad] of the next cycle towards a target (n,) [rad] that moves at (n,) [rad/s].

        The joints approach it only as fast as half of their maximum acceleration can brake.
        """
        off = positions - self._position
        way = np.minimum(0.5 * _PULL * np.abs(off), np.sqrt(self._acceleration * np.abs(off)))
        return self._lead(velocities + np.sign(off) * way)

    def brake(self) -> Vector:
        """Return the position (n,) [rad] of the next cycle while the joints come to rest."""
        return self._lead(np.zeros_like(self._velocity))

    def _lead(self, velocities: Vector) -> Vector:
        """Advance by one cycle towards velocities (n,) [rad/s], and return the position (n,) [rad]."""
        wanted = np.clip(velocities, -self._greatest, self._greatest)
        rate = np.clip(2.0 * _PULL * (wanted - self._velocity), -self._acceleration, self._acceleration)
        self._rate += np.clip(rate - self._rate, -self._jerk_step, self._jerk_step)
        self._velocity += self._rate * CYCLE_S
        self._position += self._velocity * CYCLE_S
        return self._position
