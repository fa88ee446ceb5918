"""All checks in their order, between the kinematics and the driver of a real arm.

The filter keeps a position and a velocity of the joints from which they can always brake to rest in a place that every
check allows, on a way that is free. A step is taken only if that holds after it as well; else the joints are led along
the boundary that they would cross, and where that is not allowed either, they brake, on the way that was allowed
before. So what is asked for next can never force a violation of where the joints are led, however it jumps.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from openral_control.safety.clear_path import ClearPathCheck
from openral_control.safety.joint_limits import ArmLimits, Vector
from openral_control.safety.joint_step import ArmGeometry, JointStep, PaceCheck, PlaceCheck
from openral_control.safety.sliding import Boundary, along, boundary_at, cost_of_motion

PLANNED = 0.8
"""Share of the acceleration that is planned with; the rest lets the follower catch up, and ramp with limited jerk."""
CATCH_UP = 0.5
"""Share of what the joints lag behind that is made up for in a step, and of the acceleration that brakes them after it;
more would make them swing."""
TRIES = (1.0, 0.5, 0.25)
"""Shares of the velocities that are tried where a place is not allowed."""
SLIDES = 3
"""Boundaries along which the joints are led at most: a corner has three."""


@dataclass(frozen=True)
class SafeTarget:
    """Where the joints are led. Vectors are (n,)."""

    positions: Vector
    """[rad] at the end of the step."""
    velocities: Vector
    """[rad/s] with which they are passed."""
    slowed_by: tuple[str, ...]
    """Names of the checks that allowed less than was asked for."""
    stopped_by: str
    """Name of the check for which the joints brake; empty: none."""


class SafetyFilter:
    """Where an arm is led. Used from one thread."""

    def __init__(
        self,
        paces: Sequence[PaceCheck],
        places: Sequence[PlaceCheck],
        path: ClearPathCheck,
        limits: ArmLimits,
        geometry: ArmGeometry,
        dt: float,
    ) -> None:
        """Take the checks in their order, limits and geometry of the arm, and the control step [s]."""
        self._paces, self._places, self._dt = tuple(paces), tuple(places), dt
        self._path, self._geometry = path, geometry
        self._acceleration = PLANNED * limits.acceleration
        self.restart(np.zeros(len(limits.names)))

    def restart(self, positions: Vector, velocities: Vector | None = None) -> None:
        """Begin at positions (n,) [rad] with velocities (n,) [rad/s]; None: at rest."""
        self.led: Vector = np.array(positions, dtype=np.float64)
        self._velocities = np.zeros_like(self.led) if velocities is None else np.array(velocities)
        self._wanted = self.led

    def drop_lag(self) -> None:
        """Drop the lag of the joints: the next command counts from the last target, not from the last command."""
        self._wanted = self.led

    def fork(self) -> SafetyFilter:
        """Return one that goes on from where the joints are led by itself."""
        other = copy.copy(self)  # what changes is replaced, never written into
        other._paces = tuple(copy.copy(check) for check in self._paces)
        return other

    def next(self, wanted: Vector, measured: Vector, external: Vector, now_s: float) -> SafeTarget:
        """Return where the joints are led in this control step.

        Args:
            wanted: (n,) [rad] what the policy's action asks for.
            measured: (n,) [rad] where the joints are.
            external: (n,) [Nm] torques from outside.
            now_s: [s] monotonic.
        """
        if not (np.isfinite(wanted).all() and np.isfinite(measured).all()):
            return self._brake("finite", ())
        # The speed of what is asked for, and a part of what the joints lag behind it.
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
        """Return positions and velocities after the step, or the check that does not allow any of those tried.

        Args:
            velocities: (n,) [rad/s] that are asked for.
            measured: (n,) [rad] where the joints are.
            slowed: gets the names of the checks that did not allow all of it.
        """
        reached = self._towards(velocities)
        refused, boundaries, asked = self._refused(measured, *reached), list[Boundary](), velocities
        cost = np.empty(0)
        while refused is not None and len(boundaries) < SLIDES:
            slowed += [refused.name] if refused.name not in slowed else []
            if isinstance(refused, ClearPathCheck):
                break  # a whole way has no one boundary to be led along
            place = reached[0] if not refused.allows(self.led, reached[0]) else self._rest(*reached)
            cost = cost if boundaries else cost_of_motion(self._geometry, self.led)
            boundaries.append(boundary_at(refused, self.led, place))
            before, velocities = velocities, along(asked, boundaries, cost, self._dt)
            if np.array_equal(velocities, before):
                break  # what is known of the boundary does not keep the joints from it, and would not next time
            reached = self._towards(velocities)
            refused = self._refused(measured, *reached)
        for share in TRIES[1:] if refused is not None else ():
            reached = self._towards(share * velocities)
            refused = self._refused(measured, *reached)
            if refused is None:
                break
        return refused, reached

    def _catch_up(self) -> Vector:
        """Return the velocities (n,) [rad/s] that make up for what the joints lag behind, and can be braked before."""
        behind = self._wanted - self.led
        braked = np.sqrt(2.0 * CATCH_UP * self._acceleration * np.abs(behind))
        caught: Vector = np.sign(behind) * np.minimum(CATCH_UP * np.abs(behind) / self._dt, braked)
        return caught

    def _towards(self, velocities: Vector) -> tuple[Vector, Vector]:
        """Return positions and velocities after a step towards `velocities`, as far as the acceleration lets it."""
        change = velocities - self._velocities
        most = self._acceleration * self._dt
        share = min(1.0, float((most / np.maximum(np.abs(change), 1e-12)).min()))
        after = self._velocities + share * change
        return self.led + self._dt * (self._velocities + after) / 2.0, after

    def _refused(
        self, measured: Vector, positions: Vector, velocities: Vector
    ) -> PlaceCheck | ClearPathCheck | None:
        """Return the check that does not allow a place, or where the joints could brake to from there."""
        rest = self._rest(positions, velocities)
        for place in (positions, rest):  # one after the other, since each costs the kinematics of the arm
            for check in self._places:
                if not check.allows(self.led, place):
                    return check
        return None if self._path.free(measured, positions, rest) else self._path

    def _rest(self, positions: Vector, velocities: Vector) -> Vector:
        """Return where joints could brake to, all in the same time."""
        return positions + velocities * self._braking_s(velocities) / 2.0

    def _braking_s(self, velocities: Vector) -> float:
        """Return how long [s] joints take to brake from velocities (n,) [rad/s]."""
        return float((np.abs(velocities) / self._acceleration).max())

    def _yield(self, name: str, slowed: tuple[str, ...], measured: Vector) -> SafeTarget:
        """Lead the joints back to where they are: what they are held up by is pressed by how far they are led ahead."""
        reached = self._towards(CATCH_UP * (measured - self.led) / self._dt)
        if self._refused(measured, *reached) is not None:
            return self._brake(name, slowed)
        self.led, self._velocities = reached
        self._wanted = self.led
        return SafeTarget(self.led, self._velocities, slowed, name)

    def _brake(self, name: str, slowed: tuple[str, ...]) -> SafeTarget:
        """Brake all joints in the same time, wherever they are: straight to where it was seen that they could."""
        before, whole_s = self._velocities, self._braking_s(self._velocities)
        time_s = min(whole_s, self._dt)
        after = before * (1.0 - time_s / whole_s) if whole_s > 0.0 else before
        self.led, self._velocities = self.led + time_s * (before + after) / 2.0, after
        self._wanted = self.led
        return SafeTarget(self.led, after, slowed, name)
