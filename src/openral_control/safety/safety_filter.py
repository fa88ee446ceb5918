"""All checks in their order, between the kinematics and the driver of a real arm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from openral_control.safety.arm_limits import ArmLimits, Vector
from openral_control.safety.step import Check, Step


@dataclass(frozen=True)
class SafeTarget:
    """Where the joints are led. Vectors are (n,)."""

    positions: Vector
    """[rad]"""
    velocities: Vector
    """[rad/s] with which they pass `positions`; from there the arm can come to rest within every check."""
    slowed_by: tuple[str, ...]
    """Names of the checks that shortened the way."""
    stopped_by: str
    """Name of the check that let nothing of it be gone; empty: none."""


class SafetyFilter:
    """Keeps where the arm is led. Used from one thread."""

    def __init__(self, checks: Sequence[Check], limits: ArmLimits, dt: float) -> None:
        """Take the checks in their order, the limits that the arm is moved within, and the control step [s]."""
        self._checks, self._limits, self._dt = tuple(checks), limits, dt
        self.led: Vector = np.zeros(len(limits.names))
        """(n,) [rad] where the joints are led."""

    def restart(self, positions: Vector) -> None:
        """Begin at the positions (n,) [rad] where the arm is."""
        self.led = np.array(positions, dtype=np.float64)

    def next(self, wanted: Vector, measured: Vector, external: Vector, now_s: float) -> SafeTarget:
        """Return how far towards `wanted` the joints are led in this control step.

        Args:
            wanted: (n,) [rad] what the policy's action asks for.
            measured: (n,) [rad] where the joints are.
            external: (n,) [Nm] torques from outside.
            now_s: [s] monotonic.
        """
        if not (np.isfinite(wanted).all() and np.isfinite(measured).all()):
            return SafeTarget(self.led, np.zeros_like(self.led), (), "finite")
        step = Step(self.led, np.array(wanted, dtype=np.float64), self._dt, now_s, measured, external)
        slowed, stopped = [], ""
        for check in self._checks:
            share = check.share(step)
            if share < 1.0:
                slowed.append(check.name)
                step = replace(step, wanted=step.start + share * (step.wanted - step.start))
            if share <= 0.0:
                stopped = check.name
                break
        velocities = (step.wanted - step.start) / self._dt
        if stopped or not self._can_brake(step, velocities):
            velocities = np.zeros_like(velocities)
        self.led = step.wanted
        return SafeTarget(self.led, velocities, tuple(slowed), stopped)

    def _can_brake(self, step: Step, velocities: Vector) -> bool:
        """Tell whether the arm may come to rest beyond the step's end, where it does if nothing follows."""
        limits = self._limits
        ramp = np.abs(velocities) * limits.acceleration / limits.jerk
        way = np.sign(velocities) * (velocities**2 / limits.acceleration + ramp) / 2.0
        beyond = replace(step, start=step.wanted, wanted=step.wanted + way)
        return all(check.share(beyond) >= 1.0 for check in self._checks if check.name in _PLACES)


_PLACES = ("joint position", "workspace", "distance", "singularity")
"""Checks of where the arm is, and not of when and how it moves."""
