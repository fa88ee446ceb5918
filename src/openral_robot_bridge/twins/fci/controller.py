"""Model of a Franka's own controller: in each millisecond it follows the client, or ends the motion by a reflex.

Rules and limits are those of libfranka's documentation ("Robot and interface specifications") and of its rate limiter.
The velocity change that a real controller rejects as a discontinuity is not published, so that JUMP is a guess.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from openral_control.safety.joint_limits import ArmLimits, Vector
from openral_robot_bridge.twins.arm import TwinArm
from openral_robot_bridge.twins.fci.wire import (
    CYCLE_S,
    FINISHED,
    JOINTS,
    Controller,
    FciFault,
    Generator,
    Mode,
    MoveReply,
)

MISSED_CYCLES = 20
"""Number of consecutive missed commands that ends a motion."""
FIRST_CYCLES = 500
"""Number of cycles within which the first command of a motion must come."""
TORQUE_STEP = 1.0
"""[Nm] largest change of a commanded torque in 1 ms (1000 Nm/s)."""
JUMP = 10.0
"""Largest commanded acceleration, as a multiple of the acceleration limit, before it is a velocity discontinuity."""
TOLERANCE = 1.0 + 1e-3
"""Multiple of a limit beyond which it counts as violated, since the client rounds."""
TORQUE_THRESHOLD = 20.0
"""[Nm] external torque that counts as a collision, until the client sets another threshold."""
FILTER = 0.1
"""Weight of a new external torque in the low-pass filter, whose time constant is about 10 ms."""

_VELOCITY_JUMP = FciFault.JOINT_MOTION_GENERATOR_VELOCITY_DISCONTINUITY
_OUT_OF_RANGE = FciFault.JOINT_MOTION_GENERATOR_POSITION_LIMITS_VIOLATION
_TOO_FAST = FciFault.JOINT_MOTION_GENERATOR_VELOCITY_LIMITS_VIOLATION


@dataclass
class _Motion:
    """The Move that is being executed; `heard`: a command has come; `missed`: consecutive missed commands."""

    controller: Controller
    generator: Generator
    heard: bool = False
    missed: int = 0


class ArmController:
    """Mode, motion and reflexes of one arm; only `cycle`, to be called once per millisecond, moves the arm."""

    def __init__(self, arm: TwinArm, limits: ArmLimits) -> None:
        self.arm, self._limits = arm, limits
        self.mode = Mode.IDLE
        self.faults: set[FciFault] = set()
        """Present errors."""
        self.reflex: set[FciFault] = set()
        """Errors that ended the last motion."""
        self.thresholds = np.full(JOINTS, TORQUE_THRESHOLD)
        """(7,) [Nm] external torques beyond which there is a collision."""
        self.motion: _Motion | None = None
        self.position = arm.positions
        """(7,) [rad] commanded positions, q_d."""
        self.velocity, self.acceleration, self.torque, self.external = (np.zeros(JOINTS) for _ in range(4))
        self._answered = np.ones(100, np.bool_)
        self._cycles = 0

    @property
    def success_rate(self) -> float:
        """Share of the last hundred cycles in which a command came; 0 without a motion."""
        return float(self._answered.mean()) if self.motion is not None else 0.0

    def start(self, controller: int, generator: int) -> MoveReply:
        """Begin a motion, and return MOTION_STARTED, or the reason of a rejection."""
        if self.mode is Mode.USER_STOPPED:
            return MoveReply.REJECTED_BY_SAFETY
        if self.mode is not Mode.IDLE:
            return MoveReply.NOT_POSSIBLE
        by_torque = controller == Controller.EXTERNAL
        known = (
            Generator.JOINT_POSITION,
            Generator.JOINT_VELOCITY,
            *((Generator.NONE,) if by_torque else ()),
        )
        if generator not in known or controller not in (Controller.JOINT_IMPEDANCE, Controller.EXTERNAL):
            return MoveReply.INVALID_ARGUMENT
        self.motion, self.mode = _Motion(Controller(controller), Generator(generator)), Mode.MOVE
        self.reflex.clear()
        self.settle()
        self._answered[:] = True
        return MoveReply.MOTION_STARTED

    def stop(self) -> MoveReply | None:
        """End the motion at the client's request; return the final answer to its Move, None: there is no motion."""
        return self._end(Mode.IDLE, MoveReply.PREEMPTED) if self.motion is not None else None

    def recover(self) -> bool:
        """Recover from a reflex, and return whether that was possible."""
        if self.mode is Mode.USER_STOPPED:
            return False
        self.faults.clear()
        self.mode = self.mode if self.motion is not None else Mode.IDLE
        self.settle()
        return True

    def user_stop(self, pressed: bool) -> MoveReply | None:
        """Press or release the user stop; return the final answer to the Move that it ended, None: there was none."""
        ended = (
            self._end(Mode.USER_STOPPED, MoveReply.PREEMPTED_BY_SAFETY) if pressed and self.motion else None
        )
        self.mode = Mode.USER_STOPPED if pressed else Mode.IDLE
        self.settle()
        return ended

    def fail(self, fault: FciFault) -> MoveReply | None:
        """Put the arm into a reflex; return the final answer to the Move that it ended, None: there was none."""
        ended = self._abort(fault) if self.motion is not None else None
        self.faults, self.reflex, self.mode = {fault}, {fault}, Mode.REFLEX
        return ended

    def cycle(self, command: np.void | None) -> MoveReply | None:
        """Simulate 1 ms with the client's command, None: none came; return the final answer to a Move that ended."""
        ended = self._follow(command) if self.motion is not None else None
        self.arm.advance()
        self.external += FILTER * (self.arm.external_torques - self.external)
        return ended if ended is not None else self._watch()

    def _follow(self, command: np.void | None) -> MoveReply | None:
        motion = self.motion
        assert motion is not None
        self._cycles += 1
        self._answered[self._cycles % len(self._answered)] = command is not None or not motion.heard
        if command is None:
            motion.missed += 1
            if motion.missed >= (MISSED_CYCLES if motion.heard else FIRST_CYCLES):
                return self._abort(FciFault.COMMUNICATION_CONSTRAINTS_VIOLATION)
            if motion.controller is not Controller.EXTERNAL:
                self._lead(self.position + self.velocity * CYCLE_S)
            return None
        motion.missed, motion.heard = 0, True
        if any(command[name] for name in FINISHED if name in (command.dtype.names or ())):
            return self._end(Mode.IDLE, MoveReply.SUCCESS)
        if not all(np.isfinite(command[name]).all() for name in ("q_c", "dq_c", "tau_J_d")):
            return self._end(Mode.IDLE, MoveReply.INPUT_ERROR)
        if motion.controller is Controller.EXTERNAL:
            return self._push(command["tau_J_d"])
        if motion.generator is Generator.JOINT_VELOCITY:
            return self._generate(self.position + command["dq_c"] * CYCLE_S)
        return self._generate(command["q_c"].copy())

    def _push(self, torque: Vector) -> MoveReply | None:
        if (np.abs(torque - self.torque) > TORQUE_STEP * TOLERANCE).any():
            return self._abort(FciFault.CONTROLLER_TORQUE_DISCONTINUITY)
        self.torque = np.array(torque)
        self.position, self.velocity = self.arm.positions, self.arm.velocities
        self.arm.push(self.torque)
        return None

    def _generate(self, position: Vector) -> MoveReply | None:
        """Command positions (7,) [rad], if they continue the former ones within the limits; else end in a reflex."""
        limits, velocity = self._limits, (position - self.position) / CYCLE_S
        acceleration = (velocity - self.velocity) / CYCLE_S
        least, greatest = limits.speeds_at(self.position)
        slack = TOLERANCE - 1.0
        for broken, fault in (
            (np.abs(acceleration) > limits.acceleration * JUMP, _VELOCITY_JUMP),
            ((position < limits.low) | (position > limits.high), _OUT_OF_RANGE),
            ((velocity < least - slack) | (velocity > greatest + slack), _TOO_FAST),
        ):
            if broken.any():
                return self._abort(fault)
        self._lead(position)
        return None

    def _lead(self, position: Vector) -> None:
        velocity = (position - self.position) / CYCLE_S
        self.acceleration = (velocity - self.velocity) / CYCLE_S
        self.position, self.velocity = position, velocity
        self.arm.hold(position)

    def _watch(self) -> MoveReply | None:
        """Trigger the reflexes of a moving arm: a collision, or measured joints beyond their limits."""
        if self.motion is None:
            return None
        positions, velocities, limits = self.arm.positions, self.arm.velocities, self._limits
        outside = ((positions < limits.low) & (velocities < 0)) | (
            (positions > limits.high) & (velocities > 0)
        )
        for broken, fault in (
            (np.abs(self.external) > self.thresholds, FciFault.JOINT_REFLEX),
            (outside, FciFault.JOINT_POSITION_LIMITS_VIOLATION),
            (np.abs(velocities) > limits.velocity, FciFault.JOINT_VELOCITY_VIOLATION),
        ):
            if broken.any():
                return self._abort(fault)
        return None

    def _abort(self, fault: FciFault) -> MoveReply:
        self.faults, self.reflex = {fault}, {fault}
        return self._end(Mode.REFLEX, MoveReply.REFLEX_ABORTED)

    def _end(self, mode: Mode, reply: MoveReply) -> MoveReply:
        self.motion, self.mode = None, mode
        self.settle()
        return reply

    def settle(self) -> None:
        """Let the arm's own controller hold the present positions, rounded to float32 as in the client's state."""
        self.position = self.arm.positions.astype(np.float32).astype(np.float64)
        self.velocity, self.acceleration, self.torque = (np.zeros(JOINTS) for _ in range(3))
        if self.motion is None or self.motion.controller is not Controller.EXTERNAL:
            self.arm.hold(self.position)
