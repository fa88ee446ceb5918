"""The slow start check: the first motion begins near the scene's start pose and is slow."""

from __future__ import annotations

import numpy as np

from openral_control.safety.joint_limits import Vector
from openral_control.safety.joint_step import JointStep

MOVED_RAD = 1e-3
"""[rad] by which a joint's target must have moved before the time of the slow start begins.

An arm that was asked to move and was kept still, by another check, has not begun."""


class SlowStart:
    """Slows the arm for some time from its first motion on, and from the first one after each `restart`."""

    name = "slow start"
    yields = False

    def __init__(
        self, pose: Vector, tolerance_rad: float, lasts_s: float, share: float, speeds: Vector, lead: str
    ) -> None:
        """Take the pose and the limits.

        Args:
            pose: (n,) [rad] the scene's start pose.
            tolerance_rad: [rad] largest deviation of a joint from it.
            lasts_s: [s] for which the arm is slow.
            share: share of the velocities that is allowed meanwhile, and of `speeds`.
            speeds: (n,) [rad/s] largest speeds of the joints. More is requested where the arm lags behind its commands,
                as it does while it is slow.
            lead: shell command that moves the arm to the pose, for the message.
        """
        self._pose, self._tolerance, self._lasts, self._share = pose, tolerance_rad, lasts_s, share
        self._speeds = speeds
        self._rest: Vector | None = None
        """(n,) [rad] target of the joints when a motion was asked for first."""
        self._until: float | None = None
        self._has_begun, self._lead = False, lead

    def restart(self) -> None:
        """Slow the next motion, after the arm was stopped; may be called from any thread.

        The start pose is checked for the first motion only.
        """
        self._until = self._rest = None

    def refusal(self, measured: Vector) -> str:
        """Return why the arm may not begin at `measured` (n,) [rad]; empty: it may, or has begun."""
        off = np.abs(measured - self._pose)
        if self._has_begun or (off <= self._tolerance).all():
            return ""
        joint = int(np.argmax(off))
        return (
            f"joint {joint + 1} is {off[joint]:.2f} rad from the scene's start pose, "
            f"allowed {self._tolerance:.2f} rad; lead the arm there by `{self._lead}`, with no deployment beside it, "
            "or by hand"
        )

    def share(self, step: JointStep) -> float:
        """Return the share of the slow start while it lasts, then 1; 0 where the arm may not begin."""
        if self.refusal(step.measured):
            return 0.0
        # Read once, since `restart` may reset them.
        speeds, until, rest = np.abs(step.velocities), self._until, self._rest
        if until is None:
            if speeds.max(initial=0.0) < 1e-6:
                return 1.0
            if rest is None:
                rest = self._rest = step.start
            if self._lasts == 0.0 or np.abs(step.start - rest).max(initial=0.0) >= MOVED_RAD:
                until = self._until = step.now_s + self._lasts
                self._has_begun = True
        if until is not None and step.now_s >= until:
            return 1.0
        return self._share * min(1.0, float((self._speeds / np.maximum(speeds, 1e-9)).min(initial=1.0)))
