"""A Rethink Sawyer (Intera 5) by its own ROS 1 topics, in VELOCITY mode at 100 Hz.

It is the mode whose loss is safe: when no command comes for `COMMAND_TIMEOUT_S`, the arm's own controller falls back to
POSITION mode and holds. In POSITION and TRAJECTORY mode the arm would go on, and past its collision avoidance
(intera_interface, limb.py).
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from openral_control.safety.arm_limits import ArmLimits, Vector
from openral_robot_bridge import intera
from openral_robot_bridge.driver import ArmError, ArmInfo, ArmMode, ArmState
from openral_robot_bridge.drivers.sawyer_gripper import SawyerGripper
from openral_robot_bridge.ros1.messages import MessageTypes, Ros1Error
from openral_robot_bridge.ros1.node import Ros1Node
from openral_robot_bridge.ros1.subscriber import TopicSubscriber

FIRST_S = 5.0
"""[s] until the arm has said what it is, and listens."""
STALE_S = 0.5
"""[s] after which a state counts for nothing; the arm sends a hundred a second."""
COMMAND_TIMEOUT_S = 0.2
"""[s] without a command after which the arm holds; Intera's default."""
LATE_S = 0.15
"""[s] between two commands after which the motion counts as ended, so that it never goes on behind the arm's back."""
GAIN = 5.0
"""[1/s] share of what a joint is off its target that is added to its velocity."""
LAG_RAD = 0.3
"""[rad] that a joint may be off its target before the motion counts as blocked."""
REST_S, REST_RAD_S = 1.0, 0.05
"""[s] in which an arm that is told to stand comes to rest, and [rad/s] what counts as that."""
RECOVERY_S = 4.0
"""[s] that the arm has to be reset, and as long again to be enabled; its brakes open."""
ASK_S = 0.1
"""[s] between two messages that ask for the same."""


@dataclass(frozen=True)
class _Joints:
    stamp_s: float
    positions: Vector
    velocities: Vector


class SawyerDriver:
    """One Sawyer, with its electric gripper if it has one."""

    brakes = False
    """`stop` lets the arm brake as it likes."""

    def __init__(self, address: str, joint_names: tuple[str, ...]) -> None:
        """Take the address of the arm's master, `host` or `host:port`, and the names that its joints have."""
        self._address, self._names = address, joint_names
        self._node: Ros1Node | None = None
        self._gripper: SawyerGripper | None = None
        self._joints: _Joints | None = None
        self._assembly: Any = None
        self._own_limits: Any = None
        self._external = np.zeros(len(joint_names))
        self._collided = self._moving = False
        self._sent_at = 0.0
        self._limits: ArmLimits | None = None
        self._heard: dict[str, TopicSubscriber] = {}

    def connect(self) -> ArmInfo:
        """Join the arm's graph, set its command timeout, and read its limits and version; nothing is enabled.

        Raises:
            ArmError: what did not come or was refused, and what to do.
        """
        try:
            node = self._node = Ros1Node("openral", self._address, MessageTypes(intera.DEFINITIONS))
            for topic, name, heard in (
                (intera.JOINT_STATES, "sensor_msgs/JointState", self._on_joints),
                (intera.STATE, "intera_core_msgs/RobotAssemblyState", self._on_state),
                (intera.LIMITS, "intera_core_msgs/JointLimits", self._on_limits),
                (intera.COLLISION, "intera_core_msgs/CollisionDetectionState", self._on_collision),
                (intera.TORQUES, intera.SEA_JOINT_STATE, self._on_torques),
            ):
                self._heard[topic] = node.subscribe(topic, name, heard)
            self._command = node.publish(intera.COMMAND, "intera_core_msgs/JointCommand")
            self._timeout = node.publish(intera.COMMAND_TIMEOUT, "std_msgs/Float64", latch=True)
            self._enable = node.publish(intera.ENABLE, "std_msgs/Bool")
            self._reset = node.publish(intera.RESET, "std_msgs/Empty")
            self._stop = node.publish(intera.STOP, "std_msgs/Empty")
            self._gripper = SawyerGripper(node)
        except Ros1Error as error:
            hint = "is it switched on, its address right, and Intera in SDK mode?"
            raise ArmError(f"the arm at {self._address} cannot be used: {error}; {hint}") from error
        self._timeout.publish(node.types.make("std_msgs/Float64", data=COMMAND_TIMEOUT_S))
        self._expect(intera.JOINT_STATES, lambda: self._joints is not None)
        self._expect(intera.STATE, lambda: self._assembly is not None)
        self._expect(intera.LIMITS, lambda: self._own_limits is not None)
        self._expect(intera.COMMAND, lambda: self._command.listeners > 0)
        self._limits = self._read_limits()
        width = intera.GRIPPER_STROKE_M if self._gripper.is_there() else 0.0
        return ArmInfo(
            self._limits,
            width,
            {
                "Intera": str(node.parameter(intera.VERSION_PARAMETER, "unknown")),
                "rosbags": version("rosbags"),
            },
        )

    def read(self) -> ArmState:
        """Return the newest state; one that is old is a fault."""
        joints = self._joints
        assert joints is not None  # `connect`
        mode, faults = self._mode(joints)
        return ArmState(
            joints.stamp_s,
            joints.positions,
            joints.velocities,
            self._external,
            self._gripper.width_m if self._gripper is not None else 0.0,
            mode,
            faults,
        )

    def follow(self, positions: Vector, velocities: Vector) -> None:
        """Send the velocity that leads the joints to a target, as quickly as their limits allow.

        Raises:
            ArmError: the arm is not enabled or was stopped, a joint is held back, or the last command is too long ago.
        """
        state, now = self.read(), time.monotonic()
        if state.mode not in (ArmMode.IDLE, ArmMode.MOVING):
            raise self._ended(f"{state.mode.value}: {', '.join(state.faults)}")
        late = now - self._sent_at
        if self._moving and late > LATE_S:
            raise self._ended(f"command timeout: {late:.2f} s lay between two commands, and the arm holds")
        if self._command.listeners == 0:
            raise self._ended(f"nobody listens to {intera.COMMAND} any more")
        off = np.abs(positions - state.positions)
        if off.max() > LAG_RAD:
            joint = self._names[int(off.argmax())]
            raise self._ended(f"{joint} is {off.max():.2f} rad off its target: something holds it back")
        assert self._limits is not None  # `connect`
        most = self._limits.velocity
        self._send(np.clip(velocities + GAIN * (positions - state.positions), -most, most))
        self._moving = True

    def stop(self) -> None:
        """Tell the joints to stand, until they do; an arm that does not is stopped as by its button.

        After the command timeout its own controller holds it.
        """
        if not self._moving:
            return
        due = time.monotonic() + REST_S
        while self._moving and time.monotonic() < due:
            self._send(np.zeros(len(self._names)))
            time.sleep(0.01)
            self._moving = bool(np.abs(self.read().velocities).max() > REST_RAD_S)
        if self._moving and self.read().mode is ArmMode.MOVING:
            self._stop.publish(self._types.make("std_msgs/Empty"))
        self._moving = False

    def recover(self) -> None:
        """Reset and enable the arm, by which its brakes open.

        Raises:
            ArmError: its button is pressed, or it stays stopped or disabled.
        """
        self._collided = self._moving = False
        if self._age() > STALE_S:
            raise ArmError(f"the arm at {self._address} says nothing; look at its network")
        if self._assembly.estop_button == intera.BUTTON_PRESSED:
            raise ArmError("the arm's stop button is pressed; release it")
        if self._assembly.stopped or self._assembly.error:
            empty = self._types.make("std_msgs/Empty")
            self._ask(lambda: self._reset.publish(empty), lambda s: not (s.stopped or s.error), "reset")
        on = self._types.make("std_msgs/Bool", data=True)
        self._ask(lambda: self._enable.publish(on), lambda s: s.enabled and s.ready, "be enabled")

    def grip(self, width_m: float, speed_m_s: float, force_n: float) -> None:
        """Begin to open or close; a gripper that is not calibrated is first, by which its fingers move."""
        if self._gripper is not None:
            self._gripper.grip(width_m, speed_m_s, force_n)

    def close(self) -> None:
        """Come to rest and leave the graph; the arm stays enabled, and holds."""
        if self._joints is not None and self._node is not None:
            with contextlib.suppress(ArmError):  # it is left as it is
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

    def _mode(self, joints: _Joints) -> tuple[ArmMode, tuple[str, ...]]:
        """Return the arm's mode, and the names of what keeps it from being moved."""
        state, age = self._assembly, self._age()
        if age > STALE_S:
            return ArmMode.FAULT, (f"no state since {age:.1f} s",)
        if state.estop_button == intera.BUTTON_PRESSED:
            return ArmMode.USER_STOPPED, ("stop button",)
        reasons = {
            "joint fault": state.stopped and state.estop_source == intera.SOURCE_FAULT,
            "stopped": state.stopped and state.estop_source != intera.SOURCE_FAULT,
            "error": state.error,
            "low voltage": state.lowVoltage,
            "not homed": not state.homed,
            "collision": self._collided,
            "disabled": not (state.enabled or state.stopped),
            "not ready": state.enabled and not state.ready,
        }
        names = tuple(name for name, holds in reasons.items() if holds)
        if names:
            return ArmMode.REFLEX, names
        return (ArmMode.MOVING if self._moving else ArmMode.IDLE), ()

    def _age(self) -> float:
        """Return how old [s] the newest state of the joints is."""
        return time.monotonic() - self._joints.stamp_s if self._joints is not None else np.inf

    def _ended(self, why: str) -> ArmError:
        self._moving = False
        return ArmError(f"the arm ended its motion: {why}")

    def _send(self, velocities: Vector) -> None:
        empty = np.zeros(0)
        self._command.publish(
            self._types.make(
                "intera_core_msgs/JointCommand",
                header=self._types.header(time.time()),
                mode=intera.VELOCITY_MODE,
                names=list(self._names),
                position=empty,
                velocity=np.asarray(velocities, dtype=np.float64),
                acceleration=empty,
                effort=empty,
            )
        )
        self._sent_at = time.monotonic()

    def _ask(self, send: Callable[[], None], done: Callable[[Any], bool], what: str) -> None:
        """Ask again and again until the arm's state says that it is done."""
        due = time.monotonic() + RECOVERY_S
        while not done(self._assembly):
            if time.monotonic() > due:
                mode, names = self._mode(self._joints) if self._joints is not None else (ArmMode.FAULT, ())
                raise ArmError(f"the arm does not let itself {what} ({mode.value}: {', '.join(names)})")
            send()
            time.sleep(ASK_S)

    def _expect(self, topic: str, came: Callable[[], bool]) -> None:
        """Wait for a first message, or a first listener. Raises ArmError: it did not come, and why."""
        due = time.monotonic() + FIRST_S
        while not came():
            if time.monotonic() > due:
                faults = self._heard[topic].faults.values() if topic in self._heard else ()
                why = "; ".join(faults) or "is this a Sawyer with Intera in SDK mode?"
                raise ArmError(f"the arm at {self._address} offers no {topic}: {why}")
            time.sleep(0.01)

    def _read_limits(self) -> ArmLimits:
        own, count = self._own_limits, len(self._names)
        try:
            order = [own.joint_names.index(name) for name in self._names]
            low, high, velocity, acceleration = (
                np.asarray(values, dtype=np.float64)[order]
                for values in (own.position_lower, own.position_upper, own.velocity, own.accel)
            )
        except (ValueError, IndexError) as error:
            known = ", ".join(own.joint_names)
            raise ArmError(f"the arm's limits lack joints of robot.yaml; it has {known}") from error
        free, zero = np.full(count, np.inf), np.zeros(count)
        return ArmLimits(self._names, low, high, velocity, acceleration, free, zero, free.copy())

    def _on_joints(self, message: Any) -> None:
        """Take the arm's joints out of a message; one without them is about head or gripper."""
        try:
            order = [message.name.index(name) for name in self._names]
        except ValueError:
            return
        positions, velocities = message.position[order], message.velocity[order]
        self._joints = _Joints(time.monotonic(), positions, velocities)

    def _on_state(self, message: Any) -> None:
        self._assembly = message

    def _on_limits(self, message: Any) -> None:
        self._own_limits = message

    def _on_collision(self, message: Any) -> None:
        self._collided = self._collided or bool(message.collision_state)

    def _on_torques(self, message: Any) -> None:
        """Take what the joints carry beyond what the arm's own model of its weight and inertia says."""
        with contextlib.suppress(ValueError):  # a message about other joints
            order = [message.name.index(name) for name in self._names]
            self._external = message.gravity_model_effort[order] - message.actual_effort[order]
