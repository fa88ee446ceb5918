"""Driver of a Rethink Sawyer (Intera 5) by its own ROS 1 topics, in VELOCITY mode at 100 Hz.

In this mode a loss of commands is safe: after `COMMAND_TIMEOUT_S` without one, the arm's own controller returns to
POSITION mode and holds the arm. In POSITION and TRAJECTORY mode the arm would continue its motion, and without its
collision avoidance (intera_interface, limb.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np

from openral_control.safety.joint_limits import ArmLimits, Vector
from openral_core.hardware.arm_mode import ArmMode
from openral_robot_bridge import intera
from openral_robot_bridge.driver import ArmAwayError, ArmError, ArmInfo, ArmState
from openral_robot_bridge.drivers.sawyer_gripper import SawyerGripper
from openral_robot_bridge.drivers.sawyer_state import STALE_S, SawyerState
from openral_robot_bridge.ros1.messages import MessageTypes, Ros1Error
from openral_robot_bridge.ros1.node import Ros1Node

FIRST_S = 5.0
"""[s] timeout of the arm's first messages, and again of its subscriptions to commands."""
COMMAND_TIMEOUT_S = 0.2
"""[s] without a command after which the arm's own controller holds it; Intera's default."""
LATE_S = 0.15
"""[s] between two commands after which the motion counts as ended; less than COMMAND_TIMEOUT_S, so that a motion does
not continue after the arm's controller has taken over."""
GAIN = 5.0
"""[1/s] gain from a joint's position error to its commanded velocity."""
LAG_RAD = 0.3
"""[rad] position error of a joint beyond which the motion counts as blocked."""
REST_S, REST_RAD_S = 1.0, 0.05
"""[s] timeout of braking, and [rad/s] speed below which every joint counts as at rest."""
SPEED_SHARE = 0.97
"""Share of a joint's maximum speed that is commanded, with a margin for overshoot."""
BRAKE_CYCLE_S = 0.01
"""[s] between two commands during braking."""
RECOVERY_S = 4.0
"""[s] timeout of a reset, and again of enabling, in which the brakes open."""
ASK_S = 0.1
"""[s] between two repetitions of a reset or enable message."""


class SawyerDriver:
    """One Sawyer, with its electric gripper if it has one."""

    stops_below_rad_s = np.inf
    """inf, as `stop` brakes from any speed, with the arm's maximum acceleration."""

    def __init__(self, address: str, joint_names: tuple[str, ...]) -> None:
        """Prepare the driver without a connection.

        Args:
            address: of the arm's ROS 1 master, `host` or `host:port`.
            joint_names: of the arm.
        """
        self._address, self._names = address, joint_names
        self._node: Ros1Node | None = None
        self._gripper: SawyerGripper | None = None
        self._limits: ArmLimits | None = None
        self._moving = False
        self._sent = np.zeros(len(joint_names))
        self._sent_at = 0.0

    def connect(self) -> ArmInfo:
        """Join the arm's ROS graph, set its command timeout, and read its limits and version, without enabling it.

        Raises:
            ArmError: the arm cannot be reached, or a topic is missing.
        """
        try:
            node = self._node = Ros1Node("openral", self._address, MessageTypes(intera.DEFINITIONS))
            self._state = SawyerState(node, self._names)
            self._command = node.publish(intera.COMMAND, "intera_core_msgs/JointCommand")
            self._timeout = node.publish(intera.COMMAND_TIMEOUT, "std_msgs/Float64", latch=True)
            self._enable = node.publish(intera.ENABLE, "std_msgs/Bool")
            self._reset = node.publish(intera.RESET, "std_msgs/Empty")
            self._stop = node.publish(intera.STOP, "std_msgs/Empty")
            self._gripper = SawyerGripper(node)
        except Ros1Error as error:
            hint = "is it switched on, its address right, and Intera in SDK mode?"
            raise ArmAwayError(f"the arm at {self._address} cannot be used: {error}; {hint}") from error
        self._timeout.publish(node.types.make("std_msgs/Float64", data=COMMAND_TIMEOUT_S))
        self._state.wait(FIRST_S)
        self._limits = self._state.limits()
        self._await_listeners()
        width = intera.GRIPPER_STROKE_M if self._gripper.is_there() else 0.0
        intera_version = str(node.parameter(intera.VERSION_PARAMETER, "unknown"))
        return ArmInfo(
            self._limits, width, versions={"Intera": intera_version, "rosbags": version("rosbags")}
        )

    def read(self) -> ArmState:
        """Return the newest state; its mode is FAULT if it is older than STALE_S."""
        state = self._state
        mode, faults = state.mode()
        if mode is ArmMode.IDLE and self._moving:
            mode = ArmMode.MOVING
        width = self._gripper.width_m if self._gripper is not None else 0.0
        return ArmState(state.stamp_s, state.positions, state.velocities, state.external, width, mode, faults)

    def follow(self, positions: Vector, velocities: Vector) -> None:
        """Send velocities: those of the target plus GAIN times the position error, within the joints' limits.

        Raises:
            ArmError: the arm is not enabled or was stopped, a joint is blocked, or commands were interrupted too long.
        """
        state, before = self.read(), self._sent_at
        if state.mode not in (ArmMode.IDLE, ArmMode.MOVING):
            raise _ended(f"{state.mode.value}: {', '.join(state.faults)}")
        if self._command.listeners == 0:
            raise _ended(f"nobody listens to {intera.COMMAND} any more")
        off = np.abs(positions - state.positions)
        if off.max() > LAG_RAD:
            joint = self._names[int(off.argmax())]
            raise _ended(f"{joint} is {off.max():.2f} rad off its target: something holds it back")
        assert self._limits is not None  # `connect`
        most = SPEED_SHARE * self._limits.velocity
        goes_on = self._moving
        if goes_on:
            self._expect_in_time(before, time.monotonic())
        self._send(np.clip(velocities + GAIN * (positions - state.positions), -most, most))
        self._moving = True
        if goes_on:  # this process may have been delayed between the check and the command
            self._expect_in_time(before, self._sent_at)

    def stop(self) -> None:
        """Brake until the joints are at rest; stop an arm that does not come to rest as by its stop button.

        After the command timeout the arm's own controller holds it.
        """
        if not self._moving or self._limits is None:
            return
        due = time.monotonic() + REST_S
        while time.monotonic() < due:
            change = self._limits.acceleration * (time.monotonic() - self._sent_at)
            self._send(np.sign(self._sent) * np.maximum(np.abs(self._sent) - change, 0.0))
            if not self._sent.any() and np.abs(self._state.velocities).max() < REST_RAD_S:
                break
            time.sleep(BRAKE_CYCLE_S)
        else:
            if self.read().mode is ArmMode.MOVING:
                self._stop.publish(self._types.make("std_msgs/Empty"))
        self._moving = False

    def recover(self) -> None:
        """Reset and enable the arm, which opens its brakes.

        Raises:
            ArmError: its stop button is pressed, or it stays stopped or disabled.
        """
        self._moving = False
        self._state.forget_collision()
        if self._state.age_s > STALE_S:
            raise ArmError(f"the arm at {self._address} says nothing; look at its network")
        state = self._state.assembly
        if state.estop_button == intera.BUTTON_PRESSED:
            raise ArmError("the arm's stop button is pressed; release it")
        if state.stopped or state.error:
            empty = self._types.make("std_msgs/Empty")
            self._ask(lambda: self._reset.publish(empty), lambda s: not (s.stopped or s.error), "reset")
        on = self._types.make("std_msgs/Bool", data=True)
        self._ask(lambda: self._enable.publish(on), lambda s: s.enabled and s.ready, "be enabled")

    def grip(self, width_m: float, speed_m_s: float, force_n: float) -> None:
        """Begin to open or close the gripper; an uncalibrated one is calibrated first, which moves its fingers."""
        if self._gripper is not None:
            self._gripper.grip(width_m, speed_m_s, force_n)

    def close(self) -> None:
        """Bring the arm to rest and leave the ROS graph; the arm stays enabled and is held by its controller."""
        self.stop()
        if self._gripper is not None:
            self._gripper.close()
        if self._node is not None:
            self._node.close()
        self._node = self._gripper = None

    @property
    def _types(self) -> MessageTypes:
        assert self._node is not None  # `connect`
        return self._node.types

    def _expect_in_time(self, before: float, now: float) -> None:
        """Require that the time `now` [s] is within LATE_S of the command at `before` [s].

        Raises:
            ArmError: it is not, and the arm's own controller holds it.
        """
        if now - before > LATE_S:
            raise _ended(f"command timeout: {now - before:.2f} s lay between two commands, and the arm holds")

    def _send(self, velocities: Vector) -> None:
        empty = np.zeros(0)
        self._command.publish(
            self._types.make(
                "intera_core_msgs/JointCommand",
                header=self._types.header(time.time()),
                mode=intera.VELOCITY_MODE,
                names=list(self._names),
                position=empty,
                velocity=velocities,
                acceleration=empty,
                effort=empty,
            )
        )
        self._sent, self._sent_at = velocities, time.monotonic()

    def _ask(self, send: Callable[[], None], done: Callable[[Any], bool], what: str) -> None:
        """Repeat a message until the arm's state confirms it.

        Raises:
            ArmError: it does not within RECOVERY_S.
        """
        due = time.monotonic() + RECOVERY_S
        while not done(self._state.assembly):
            if time.monotonic() > due:
                mode, names = self._state.mode()
                raise ArmError(f"the arm does not let itself {what} ({mode.value}: {', '.join(names)})")
            send()
            time.sleep(ASK_S)

    def _await_listeners(self) -> None:
        """Wait until the arm has subscribed to commands.

        Raises:
            ArmError: it does not within FIRST_S.
        """
        due = time.monotonic() + FIRST_S
        while not (self._command.listeners and self._timeout.listeners):
            if time.monotonic() > due:
                raise ArmError(
                    f"the arm at {self._address} does not listen to {intera.COMMAND}; "
                    "can it reach this computer, and no firewall is between?"
                )
            time.sleep(0.01)


def _ended(why: str) -> ArmError:
    return ArmError(f"the arm ended its motion: {why}")
