"""The safety filter between the kinematics and the driver of a real arm, which applies all checks in order.

The filter keeps a target position and velocity of the joints from which they can always brake to rest in a posture that
every check allows, along a free path. A step is taken only if this holds after it as well. Otherwise the joints are led
along the boundary that they would cross, and if that is not allowed either, they brake along the path that was allowed
before. So no sequence of commands, however it jumps, can lead the target out of what is allowed.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from openral_control.safety.clear_path import ClearPathCheck
from openral_control.safety.joint_limits import ArmLimits, Vector
from openral_control.safety.joint_step import ArmGeometry, JointStep, PaceCheck, PlaceCheck
from openral_control.safety.sliding import Boundary, along, boundary_at, cost_of_motion

PLANNED = 0.8
"""Share of the acceleration limit that the filter uses.

The rest lets the follower of the target catch up, and change its acceleration with limited jerk."""
CATCH_UP = 0.5
"""Share of the target's lag behind the commands that one step reduces, and share of the acceleration that is assumed
for braking afterwards; larger values make the joints oscillate."""
TRIES = (1.0, 0.5, 0.25)
"""Shares of the velocities that are tried where a posture is not allowed."""
SLIDES = 3
"""Largest number of boundaries along which the joints are led at once, as in a corner of a box."""


@dataclass(frozen=True)
class SafeTarget:
    """Target of the joints for one control step. Vectors are (n,)."""

    positions: Vector
    """[rad] at the end of the step."""
    velocities: Vector
    """[rad/s] at the end of the step."""
    slowed_by: tuple[str, ...]
    """Names of the checks that allowed less than was requested."""
    stopped_by: str
    """Name of the check for which the joints brake; empty: none."""


class SafetyFilter:
    """Computes the target of an arm's joints for each control step. Not thread-safe."""

    def __init__(
        self,
        paces: Sequence[PaceCheck],
        places: Sequence[PlaceCheck],
        path: ClearPathCheck,
        limits: ArmLimits,
        geometry: ArmGeometry,
        dt: float,
    ) -> None:
        """Take the checks in order, the limits and the geometry of the arm, and the control step [s]."""
        self._paces, self._places, self._dt = tuple(paces), tuple(places), dt
        self._path, self._geometry = path, geometry
        self._acceleration = PLANNED * limits.acceleration
        self.restart(np.zeros(len(limits.names)))

    def restart(self, positions: Vector, velocities: Vector | None = None) -> None:
        """Set the target to positions (n,) [rad] with velocities (n,) [rad/s]; None: at rest."""
        self.led: Vector = np.array(positions, dtype=np.float64)
        self._velocities = np.zeros_like(self.led) if velocities is None else np.array(velocities)
        self._wanted = self.led

    def drop_lag(self) -> None:
        """Discard the lag of the target, so that the next command counts from it and not from the last command."""
        self._wanted = self.led

    def fork(self) -> SafetyFilter:
        """Return an independent copy that continues from the present target."""
        other = copy.copy(self)  # shallow, since arrays are replaced and never modified in place
        other._paces = tuple(copy.copy(check) for check in self._paces)
        return other

    def next(self, wanted: Vector, measured: Vector, external: Vector, now_s: float) -> SafeTarget:
        """Return the target of this control step.

        Args:
            wanted: (n,) [rad] positions that the policy's action commands.
            measured: (n,) [rad] measured positions.
            external: (n,) [Nm] external torques.
            now_s: [s] monotonic time.
        """
        if not all(map(math.isfinite, (*wanted.tolist(), *measured.tolist()))):
            return self._brake("finite", ())
        # The velocity of the commands, and a part of the target's lag behind them.
        velocities = (wanted - self._wanted) / self._dt + self._catch_up()
        self._wanted = np.array(wanted, dtype=np.float64)
        step = JointStep(self.led, velocities, self._dt, now_s, measured, external)
        slowed = []
        for check in self._paces:
            share = check.share(step)
            if share < 1.0:
                slowed.append(check.name)
                step = replace(step, velocities=share * step.velocities)
            if share <= 0.0:
                if check.yields:
                    return self._yield(check.name, tuple(slowed), measured)
                return self._brake(check.name, tuple(slowed))
        refused, reached = self._led_on(step.velocities, measured, slowed)
        if refused is not None:
            return self._brake(refused.name, tuple(slowed))
        self.led, self._velocities = reached
        return SafeTarget(self.led, self._velocities, tuple(slowed), "")

    def _led_on(
        self, velocities: Vector, measured: Vector, slowed: list[str]
    ) -> tuple[PlaceCheck | ClearPathCheck | None, tuple[Vector, Vector]]:
        """Return the check that refuses all attempts, or None, and the positions and velocities after the last one.

        Args:
            velocities: (n,) [rad/s] requested.
            measured: (n,) [rad] measured positions.
            slowed: the names of the checks that refused an attempt are appended to it.
        """
        reached = self._towards(velocities)
        refused, place = self._refused(measured, *reached)
        boundaries, asked, cost = list[Boundary](), velocities, np.empty(0)
        while refused is not None and len(boundaries) < SLIDES:
            slowed += [refused.name] if refused.name not in slowed else []
            if isinstance(refused, ClearPathCheck):
                break  # a path has no single boundary along which the joints could be led
            cost = cost if boundaries else cost_of_motion(self._geometry, self.led)
            boundaries.append(boundary_at(refused, self.led, place))
            before, velocities = velocities, along(asked, boundaries, cost, self._dt)
            if np.array_equal(velocities, before):
                break  # the linear boundary does not prevent the refusal, and would not in a further iteration
            reached = self._towards(velocities)
            refused, place = self._refused(measured, *reached)
        for share in TRIES[1:] if refused is not None else ():
            reached = self._towards(share * velocities)
            refused, _ = self._refused(measured, *reached)
            if refused is None:
                break
        return refused, reached

    def _catch_up(self) -> Vector:
        """Return velocities (n,) [rad/s] that reduce the target's lag, and from which it brakes without overshoot."""
        behind = self._wanted - self.led
        braked = np.sqrt(2.0 * CATCH_UP * self._acceleration * np.abs(behind))
        caught: Vector = np.sign(behind) * np.minimum(CATCH_UP * np.abs(behind) / self._dt, braked)
        return caught

    def _towards(self, velocities: Vector) -> tuple[Vector, Vector]:
        """Return positions and velocities after a step towards `velocities`, within the acceleration limit."""
        change = velocities - self._velocities
        most = self._acceleration * self._dt
        share = min(1.0, float((most / np.maximum(np.abs(change), 1e-12)).min()))
        after = self._velocities + share * change
        return self.led + self._dt * (self._velocities + after) / 2.0, after

    def _refused(
        self, measured: Vector, positions: Vector, velocities: Vector
    ) -> tuple[PlaceCheck | ClearPathCheck | None, Vector]:
        """Return the check that refuses the positions, those at which the joints can rest, or the path there.

        The second value is what it refuses, for the path its end (n,) [rad]; without a refusal it means nothing.
        """
        rest = self._rest(positions, velocities)
        for place in (positions, rest):  # in turn, since each requires the kinematics of the arm
            for check in self._places:
                if not check.allows(self.led, place):
                    return check, place
        return None if self._path.free(measured, positions, rest) else self._path, rest

    def _rest(self, positions: Vector, velocities: Vector) -> Vector:
        """Return the positions (n,) [rad] at which the joints can come to rest, all in the same time."""
        return positions + velocities * self._braking_s(velocities) / 2.0

    def _braking_s(self, velocities: Vector) -> float:
        """Return the time [s] in which all joints can brake from velocities (n,) [rad/s]."""
        return float((np.abs(velocities) / self._acceleration).max())

    def _yield(self, name: str, slowed: tuple[str, ...], measured: Vector) -> SafeTarget:
        """Lead the target back to the measured positions, since its lead is what presses the arm on an obstacle."""
        reached = self._towards(CATCH_UP * (measured - self.led) / self._dt)
        if self._refused(measured, *reached)[0] is not None:
            return self._brake(name, slowed)
        self.led, self._velocities = reached
        self._wanted = self.led
        return SafeTarget(self.led, self._velocities, slowed, name)

    def _brake(self, name: str, slowed: tuple[str, ...]) -> SafeTarget:
        """Brake all joints in the same time, along a straight line to the posture that was checked before."""
        before, whole_s = self._velocities, self._braking_s(self._velocities)
        time_s = min(whole_s, self._dt)
        after = before * (1.0 - time_s / whole_s) if whole_s > 0.0 else before
        self.led, self._velocities = self.led + time_s * (before + after) / 2.0, after
        self._wanted = self.led
        return SafeTarget(self.led, after, slowed, name)
