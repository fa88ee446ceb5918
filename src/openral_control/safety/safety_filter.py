"""All checks in their order, between the kinematics and the driver of a real arm.

The filter keeps a position and a velocity of the joints from which they can always brake to rest in a place that every
check allows. A step is taken only if that holds after it as well; else the joints brake, on the way that was allowed
before. So what is asked for next can never force a violation, however it jumps.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from openral_control.safety.arm_limits import ArmLimits, Vector
from openral_control.safety.step import JointStep, PaceCheck, PlaceCheck

PLANNED = 0.8
"""Share of the acceleration that is planned with; the rest lets the follower catch up, and ramp with limited jerk."""
CATCH_UP = 0.5
"""Share of what the joints lag behind that is made up for in a step, and of the acceleration that brakes them after it;
more would make them swing."""
TRIES = (1.0, 0.5, 0.25)
"""Shares of the velocities that are tried where a place is not allowed."""


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
        self, paces: Sequence[PaceCheck], places: Sequence[PlaceCheck], limits: ArmLimits, dt: float
    ) -> None:
        """Take the checks in their order, the limits that the arm is moved within, and the control step [s]."""
        self._paces, self._places, self._dt = tuple(paces), tuple(places), dt
        self._acceleration = PLANNED * limits.acceleration
        self.restart(np.zeros(len(limits.names)))

    def restart(self, positions: Vector) -> None:
        """Begin at rest at positions (n,) [rad]."""
        self.led: Vector = np.array(positions, dtype=np.float64)
        self._velocities = np.zeros_like(self.led)
        self._wanted = self.led

    def forgive(self) -> None:
        """Make up for nothing that the joints lag behind: what is asked for next counts from where they are led."""
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
                return self._brake(check.name, tuple(slowed))
        for share in TRIES:
            reached = self._towards(share * step.velocities)
            refused = self._refused(*reached)
            if not refused:
                self.led, self._velocities = reached
                return SafeTarget(self.led, self._velocities, tuple(slowed), "")
            if refused not in slowed:
                slowed.append(refused)
        return self._brake(refused, tuple(slowed))

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

    def _refused(self, positions: Vector, velocities: Vector) -> str:
        """Return the name of the check that does not allow a place, or where the joints could brake to from there."""
        rest = positions + velocities * np.abs(velocities) / (2.0 * self._acceleration)
        for check in self._places:
            if not (check.allows(self.led, positions) and check.allows(self.led, rest)):
                return check.name
        return ""

    def _brake(self, name: str, slowed: tuple[str, ...]) -> SafeTarget:
        """Brake every joint as quickly as planned."""
        before = self._velocities
        time = np.minimum(np.abs(before) / self._acceleration, self._dt)
        after = before - np.sign(before) * self._acceleration * time
        self.led, self._velocities = self.led + time * (before + after) / 2.0, after
        self._wanted = self.led
        return SafeTarget(self.led, after, slowed, name)
