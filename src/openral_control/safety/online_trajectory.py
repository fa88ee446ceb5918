"""Online generation of jerk-limited joint trajectories towards targets that come at the control rate.

In each cycle Ruckig (Berscheid and Kroeger 2021, "Jerk-limited Real-time Trajectory Generation with Arbitrary Target
States") finds the fastest trajectory to the newest target within the limits of velocity, acceleration and jerk.
"""

from __future__ import annotations

import numpy as np

from openral_control.safety.joint_limits import ArmLimits, Vector
from openral_core.errors import ControlError, InstallationError

try:
    from ruckig import (
        ControlInterface,
        InputParameter,
        OutputParameter,
        Result,
        Ruckig,
        RuckigError,
        Synchronization,
    )
except ImportError as missing:
    extras = "pip install 'openral[franka]', 'openral[panda]' or 'openral[sawyer]'"
    raise InstallationError(f"real arms need ruckig; run: {extras}") from missing

JERK_SHARES = (1.0, 0.95)
"""Shares of the jerk limit that are tried in turn.

Ruckig finds no profile where a path is just long enough to reach the largest acceleration and return from it; with a
slightly smaller jerk it does."""
LEAST_RAD_S = 0.02
"""[rad/s] in excess of its target's speed that a joint may always have, so that it can leave a position where the
limit is 0."""


class OnlineTrajectory:
    """The commanded motion of n joints, cycle by cycle. Not thread-safe."""

    def __init__(self, limits: ArmLimits, cycle_s: float, braking: ArmLimits | None = None) -> None:
        """Begin at rest at 0.

        Args:
            limits: limits of the motion.
            cycle_s: [s] from one call of `cycle` to the next.
            braking: limits whose acceleration and jerk are used by `halt`; None: `limits`.
        """
        count = len(limits.names)
        self.limits = self._used = limits
        """Limits of the motion."""
        self._braking = limits if braking is None else braking
        self._ruckig, self._input = Ruckig(count, cycle_s), InputParameter(count)
        self._output = OutputParameter(count)
        self._input.max_velocity = limits.velocity
        self.restart(np.zeros(count))

    @property
    def at_rest(self) -> bool:
        """Whether the joints have been told to stop and their commanded velocity and acceleration are 0."""
        moving = np.abs(self._input.current_velocity).max() + np.abs(self._input.current_acceleration).max()
        return bool(moving < 1e-9) and self._stopping

    @property
    def accelerations(self) -> Vector:
        """(n,) [rad/s²] commanded accelerations of the last cycle."""
        return np.array(self._input.current_acceleration)

    def restart(
        self, positions: Vector, velocities: Vector | None = None, accelerations: Vector | None = None
    ) -> None:
        """Begin at positions (n,) [rad] with velocities (n,) [rad/s] and accelerations (n,) [rad/s²], or at rest."""
        still = np.zeros(len(positions))
        self._input.current_position = self._input.target_position = np.array(positions)
        self._input.current_velocity = still if velocities is None else velocities
        self._input.current_acceleration = still if accelerations is None else accelerations
        self._input.target_velocity = self._input.target_acceleration = still
        self.stop()

    def lead(self, positions: Vector, velocities: Vector, duration_s: float) -> None:
        """Set the target: positions (n,) [rad], passed with velocities (n,) [rad/s] after at least `duration_s` [s].

        If no further target is set before they are reached, the joints come to rest beyond them.
        """
        self._used = self.limits
        self._input.control_interface = ControlInterface.Position
        self._input.synchronization = Synchronization.Time
        self._input.target_position = positions
        bound = self._speeds_towards(positions, velocities)
        self._input.max_velocity = bound
        self._input.target_velocity = np.clip(velocities, -bound * (1.0 - 1e-6), bound * (1.0 - 1e-6))
        self._input.minimum_duration = duration_s
        self._stopping = False

    def _speeds_towards(self, positions: Vector, velocities: Vector) -> Vector:
        """Return the allowed speeds (n,) [rad/s] on the path to a target, the smaller ones of its two ends."""
        here = np.array(self._input.current_position)
        ways = np.where(positions >= here, 1.0, -1.0)
        speeds = []
        for place in (here, positions):
            least, greatest = self.limits.speeds_at(place)
            speeds.append(np.where(ways > 0, greatest, -least))
        return np.maximum(
            np.minimum(*speeds), np.minimum(np.abs(velocities) + LEAST_RAD_S, self.limits.velocity)
        )

    def halt(self) -> None:
        """Come to rest as fast as the limits of braking allow."""
        self.stop()
        self._used = self._braking

    def stop(self) -> None:
        """Come to rest as fast as the limits of the motion allow."""
        self._used = self.limits
        self._input.control_interface = ControlInterface.Velocity
        self._input.synchronization = Synchronization.Phase
        self._input.target_velocity = np.zeros(len(self.limits.names))
        self._input.minimum_duration = None
        self._stopping = True

    def cycle(self) -> tuple[Vector, Vector]:
        """Return positions (n,) [rad] and velocities (n,) [rad/s] of the next cycle.

        Raises:
            ControlError: there is no trajectory within the limits, not even to rest.
        """
        result = self._update()
        if result is None and not self._stopping:
            self.stop()
            result = self._update()
        if result is None:
            raise ControlError("no motion within the limits leads on from here")
        self._output.pass_to_input(self._input)
        if result == Result.Finished and not self._stopping:
            self.stop()
        return np.array(self._output.new_position), np.array(self._output.new_velocity)

    def _update(self) -> Result | None:
        """Compute the next cycle; None: there is no trajectory within the limits."""
        self._input.max_acceleration = self._used.acceleration
        for share in JERK_SHARES:
            self._input.max_jerk = share * self._used.jerk
            try:
                result = self._ruckig.update(self._input, self._output)
            except RuckigError:
                continue
            if result in (Result.Working, Result.Finished):
                return result
        return None
