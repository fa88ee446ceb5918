"""An arm that does what it is told, for tests and for trying a deployment without any."""

from __future__ import annotations

import time

import numpy as np

from openral_control.safety.joint_limits import ArmLimits, Vector
from openral_robot_bridge.driver import ArmError, ArmInfo, ArmMode, ArmState


class FakeDriver:
    """Its joints are at once where they are led; what befalls it is set from outside."""

    stops_below_rad_s = 0.0

    def __init__(self, limits: ArmLimits, start: Vector, max_width_m: float = 0.08) -> None:
        """Begin idle with the joints at `start` (n,) [rad] and the fingers open."""
        self._limits, self._max_width = limits, max_width_m
        self.positions, self.velocities = np.array(start), np.zeros(len(start))
        self.external_torques = np.zeros(len(start))
        """(n,) [Nm] as they shall be read."""
        self.width_m = max_width_m
        self.mode = ArmMode.IDLE
        self.faults: tuple[str, ...] = ()
        self.followed: list[Vector] = []
        """All positions (n,) [rad] that it was led to."""

    def connect(self) -> ArmInfo:
        """Return its limits."""
        return ArmInfo(self._limits, self._max_width, versions={"fake": "1"})

    def read(self) -> ArmState:
        """Return where it is."""
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
        """Let something befall the arm, by which it stands."""
        self.mode, self.faults, self.velocities = mode, faults, np.zeros_like(self.velocities)

    def follow(self, positions: Vector, velocities: Vector) -> None:
        """Be there. Raises ArmError: something befell the arm."""
        if self.mode not in (ArmMode.IDLE, ArmMode.MOVING):
            raise ArmError(f"the arm cannot be moved: {self.mode.value} {', '.join(self.faults)}".strip())
        self.mode = ArmMode.MOVING
        self.positions, self.velocities = np.array(positions), np.array(velocities)
        self.followed.append(self.positions)

    def stop(self) -> None:
        """Stand."""
        self.velocities = np.zeros_like(self.velocities)
        if self.mode is ArmMode.MOVING:
            self.mode = ArmMode.IDLE

    def recover(self) -> None:
        """Be idle again. Raises ArmError: the user stop is pressed."""
        if self.mode is ArmMode.USER_STOPPED:
            raise ArmError("the user stop is pressed; release it")
        self.mode, self.faults = ArmMode.IDLE, ()

    def grip(self, width_m: float, speed_m_s: float, force_n: float) -> None:
        """Open or close."""
        self.width_m = float(np.clip(width_m, 0.0, self._max_width))

    def close(self) -> None:
        """Stand."""
        self.stop()
