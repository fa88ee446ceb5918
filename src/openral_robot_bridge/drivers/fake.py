"""A simulated arm that reaches each target at once, for tests and for deployments without an arm."""

from __future__ import annotations

import time

import numpy as np

from openral_control.safety.joint_limits import ArmLimits, Vector
from openral_core.hardware.arm_mode import ArmMode
from openral_robot_bridge.driver import ArmError, ArmInfo, ArmState


class FakeDriver:
    """An arm whose joints are at their target at once; its torques and faults are set from outside."""

    stops_below_rad_s = 0.0

    def __init__(self, limits: ArmLimits, start: Vector, max_width_m: float = 0.08) -> None:
        """Begin idle with the joints at `start` (n,) [rad] and the fingers open."""
        self._limits, self._max_width = limits, max_width_m
        self.positions, self.velocities = np.array(start), np.zeros(len(start))
        self.external_torques = np.zeros(len(start))
        """(n,) [Nm] that `read` returns."""
        self.width_m = max_width_m
        self.mode = ArmMode.IDLE
        self.faults: tuple[str, ...] = ()
        self.followed: list[Vector] = []
        """All targets (n,) [rad] of `follow`."""

    def connect(self) -> ArmInfo:
        """Return the arm's properties."""
        return ArmInfo(self._limits, self._max_width, versions={"fake": "1"})

    def read(self) -> ArmState:
        """Return the arm's state."""
        return ArmState(
            time.monotonic(),
            self.positions.copy(),
            self.velocities.copy(),
            self.external_torques.copy(),
            self.width_m,
            self.mode,
            self.faults,
        )

    def fail(self, mode: ArmMode, *faults: str) -> None:
        """Set a mode and faults, and stop the arm."""
        self.mode, self.faults, self.velocities = mode, faults, np.zeros_like(self.velocities)

    def follow(self, positions: Vector, velocities: Vector) -> None:
        """Move to a target at once.

        Raises:
            ArmError: the arm is in a mode in which it cannot be moved.
        """
        if self.mode not in (ArmMode.IDLE, ArmMode.MOVING):
            raise ArmError(f"the arm cannot be moved: {self.mode.value} {', '.join(self.faults)}".strip())
        self.mode = ArmMode.MOVING
        self.positions, self.velocities = np.array(positions), np.array(velocities)
        self.followed.append(self.positions)

    def stop(self) -> None:
        """Bring the arm to rest at once."""
        self.velocities = np.zeros_like(self.velocities)
        if self.mode is ArmMode.MOVING:
            self.mode = ArmMode.IDLE

    def recover(self) -> None:
        """Become idle again.

        Raises:
            ArmError: the user stop is pressed.
        """
        if self.mode is ArmMode.USER_STOPPED:
            raise ArmError("the user stop is pressed; release it")
        self.mode, self.faults = ArmMode.IDLE, ()

    def grip(self, width_m: float, speed_m_s: float, force_n: float) -> None:
        """Set the width at once."""
        self.width_m = float(np.clip(width_m, 0.0, self._max_width))

    def close(self) -> None:
        """Bring the arm to rest."""
        self.stop()
