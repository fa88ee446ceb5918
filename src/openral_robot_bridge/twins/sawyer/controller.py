"""Model of Sawyer's own controller, which follows velocities or holds the arm, at 100 Hz.

Modes, timeout and enable state are those of Intera's SDK (limb.py, robot_enable.py). The real arm's threshold of
collisions and its braking are not published, so that COLLISION_NM and the braking here are guesses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from openral_control.safety.joint_limits import ArmLimits, Vector
from openral_robot_bridge import intera
from openral_robot_bridge.twins.arm import TwinArm

STEP_S = 0.002
"""[s] timestep of the physics."""
STEPS = 5
"""Number of timesteps in a cycle of 10 ms."""
DEFAULT_TIMEOUT_S, LONGEST_TIMEOUT_S = 0.2, 1.0
"""[s] default and upper bound of joint_command_timeout."""
COLLISION_NM = 30.0
"""[Nm] external torque of a joint beyond which there is a collision."""
LEASH_RAD = 0.15
"""[rad] largest distance of a joint's set point from its position."""


@dataclass
class AssemblyState:
    """Fields of RobotAssemblyState that change."""

    enabled: bool = False
    stopped: bool = False
    error: bool = False
    button: int = intera.BUTTON_UNPRESSED
    source: int = intera.SOURCE_NONE


class SawyerController:
    """Mode and motion of one arm; only `cycle`, to be called every 10 ms of its time, moves the arm."""

    def __init__(self, arm: TwinArm, limits: ArmLimits) -> None:
        """Begin disabled, as after power-on."""
        self.arm, self._limits = arm, limits
        self.state = AssemblyState()
        self.timeout_s = DEFAULT_TIMEOUT_S
        self.timeouts = self.commands = 0
        """Number of motions that ended by the timeout, and number of commands, since the start."""
        self._set_point = arm.positions
        self._velocities = np.zeros(len(self._set_point))
        self._wanted: Vector | None = None
        self._silence_s = 0.0

    @property
    def moving(self) -> bool:
        """Whether the arm is in VELOCITY mode."""
        return self._wanted is not None

    @property
    def colliding(self) -> bool:
        """Whether an external torque exceeds COLLISION_NM."""
        return bool((np.abs(self.arm.external_torques) > COLLISION_NM).any())

    def command(self, velocities: Vector) -> None:
        """Follow velocities (n,) [rad/s] until the next command or the timeout; ignored while the arm may not move."""
        self.commands += 1
        if self.state.enabled and not self.colliding and np.isfinite(velocities).all():
            self._wanted, self._silence_s = np.clip(velocities, *self._bounds()), 0.0

    def hold(self) -> None:
        """Return to POSITION mode, and hold the arm."""
        self._wanted = None

    def set_timeout(self, seconds: float) -> None:
        """Set joint_command_timeout [s], within its bounds; NaN is ignored."""
        if not np.isnan(seconds):
            self.timeout_s = float(np.clip(seconds, 0.0, LONGEST_TIMEOUT_S))

    def enable(self, on: bool) -> None:
        """Enable or disable the arm; it stays disabled while it is stopped or has an error."""
        self.state.enabled = on and not (self.state.stopped or self.state.error)

    def reset(self) -> None:
        """Clear stop and error, and leave the arm disabled; ignored while the button is pressed."""
        if self.state.button != intera.BUTTON_PRESSED:
            self.state = AssemblyState()

    def stop(self, source: int) -> None:
        """Stop the arm until it is reset."""
        self.state.enabled, self.state.stopped, self.state.source = False, True, source
        if source != intera.SOURCE_USER:
            self.state.button = intera.BUTTON_UNKNOWN

    def press(self, pressed: bool) -> None:
        """Press or release the stop button."""
        if pressed:
            self.state.button = intera.BUTTON_PRESSED
            self.stop(intera.SOURCE_USER)
        elif self.state.button == intera.BUTTON_PRESSED:
            self.state.button = intera.BUTTON_RELEASED

    def fail(self) -> None:
        """Simulate the failure of a joint."""
        self.state.error = True
        self.stop(intera.SOURCE_FAULT)

    def cycle(self) -> None:
        """Simulate 10 ms."""
        self._silence_s += STEP_S * STEPS
        if self._wanted is not None and self._silence_s > self.timeout_s:
            self.timeouts += 1
            self.hold()
        if self.colliding:  # hold the measured positions, so that the arm presses no further
            self.hold()
            self._set_point, self._velocities = self.arm.positions, np.zeros_like(self._velocities)
        for _ in range(STEPS):
            self._advance()

    def _advance(self) -> None:
        positions = self.arm.positions
        if not self.state.enabled:  # the brakes hold
            self._wanted = None
            self._velocities[:] = 0.0
        wanted = self._wanted if self._wanted is not None else np.zeros_like(positions)
        most = self._limits.acceleration * STEP_S
        self._velocities += np.clip(wanted - self._velocities, -most, most)
        ahead = np.clip(
            self._set_point + self._velocities * STEP_S, positions - LEASH_RAD, positions + LEASH_RAD
        )
        self._set_point = np.clip(ahead, self._limits.low, self._limits.high)
        self.arm.hold(self._set_point, self._velocities)
        self.arm.advance()

    def _bounds(self) -> tuple[Vector, Vector]:
        return -self._limits.velocity, self._limits.velocity
