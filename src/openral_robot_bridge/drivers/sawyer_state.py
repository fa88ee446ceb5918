"""State of a Sawyer from its ROS 1 topics: joints, state of the whole arm, torques, collisions, limits."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from openral_control.safety.joint_limits import ArmLimits, Vector
from openral_core.hardware.arm_mode import ArmMode
from openral_robot_bridge import intera
from openral_robot_bridge.driver import ArmError
from openral_robot_bridge.ros1.node import Ros1Node

STALE_S = 0.5
"""[s] age from which on a message is ignored; the arm publishes at 100 Hz."""


class SawyerState:
    """The newest message of each topic; messages come in threads of their own, and any thread may read."""

    def __init__(self, node: Ros1Node, joint_names: tuple[str, ...]) -> None:
        """Subscribe to the topics.

        Raises:
            Ros1Error: the master does not answer.
        """
        self._names = joint_names
        self._stamps: dict[str, float] = {}
        count = len(joint_names)
        self.positions, self.velocities = np.zeros(count), np.zeros(count)
        """(n,) [rad] and (n,) [rad/s] of the joints."""
        self._external = np.full(count, np.nan)
        self.assembly: Any = None
        """The newest RobotAssemblyState; None: none came."""
        self._limits: Any = None
        self._collided = False
        self._subscribers = {
            topic: node.subscribe(topic, name, heard)
            for topic, name, heard in (
                (intera.JOINT_STATES, "sensor_msgs/JointState", self._on_joints),
                (intera.STATE, "intera_core_msgs/RobotAssemblyState", self._on_assembly),
                (intera.TORQUES, intera.SEA_JOINT_STATE, self._on_torques),
                (intera.LIMITS, "intera_core_msgs/JointLimits", self._on_limits),
                (intera.COLLISION, "intera_core_msgs/CollisionDetectionState", self._on_collision),
            )
        }

    @property
    def stamp_s(self) -> float:
        """[s] monotonic time at which the newest state of the joints came; 0: none came."""
        return self._stamps.get(intera.JOINT_STATES, 0.0)

    @property
    def external(self) -> Vector:
        """(n,) [Nm] the arm's gravity model minus the measured torques; NaN if the newest message is too old."""
        return self._external if self._age(intera.TORQUES) < STALE_S else np.full(len(self._names), np.nan)

    @property
    def age_s(self) -> float:
        """[s] age of the newest state of the joints or of the arm, whichever is older."""
        return max(self._age(intera.JOINT_STATES), self._age(intera.STATE))

    def wait(self, patience_s: float) -> None:
        """Wait until each required topic has had a message.

        Raises:
            ArmError: one had none within `patience_s` [s].
        """
        due = time.monotonic() + patience_s
        for topic in (intera.JOINT_STATES, intera.STATE, intera.TORQUES, intera.LIMITS):
            while topic not in self._stamps:
                if time.monotonic() > due:
                    faults = "; ".join(self._subscribers[topic].faults.values())
                    why = faults or "is this a Sawyer with Intera in SDK mode?"
                    raise ArmError(f"the arm offers no {topic} for {', '.join(self._names)}: {why}")
                time.sleep(0.01)

    def mode(self) -> tuple[ArmMode, tuple[str, ...]]:
        """Return IDLE, or the mode in which the arm cannot be moved, and the names of the reasons."""
        state, age = self.assembly, self.age_s
        if age > STALE_S:
            return ArmMode.FAULT, (f"no state since {age:.1f} s",)
        if not np.isfinite([self.positions, self.velocities]).all():
            return ArmMode.FAULT, ("positions or velocities of joints that are no numbers",)
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
        return (ArmMode.REFLEX if names else ArmMode.IDLE), names

    def forget_collision(self) -> None:
        """Clear a collision, until the arm reports another one."""
        self._collided = False

    def limits(self) -> ArmLimits:
        """Return the limits that the arm published.

        Raises:
            ArmError: they lack one of the joints.
        """
        own, count = self._limits, len(self._names)
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

    def _age(self, topic: str) -> float:
        return time.monotonic() - self._stamps.get(topic, -np.inf)

    def _note(self, topic: str) -> None:
        self._stamps[topic] = time.monotonic()

    def _on_joints(self, message: Any) -> None:
        def take(order: list[int]) -> None:
            self.positions, self.velocities = message.position[order], message.velocity[order]
            self._note(intera.JOINT_STATES)

        self._for_arm(message.name, take)

    def _on_torques(self, message: Any) -> None:
        def take(order: list[int]) -> None:
            self._external = message.gravity_model_effort[order] - message.actual_effort[order]
            self._note(intera.TORQUES)

        self._for_arm(message.name, take)

    def _for_arm(self, names: list[str], take: Callable[[list[int]], None]) -> None:
        """Call `take` with the indices of the arm's joints in a message; ignore one of other joints (head, gripper)."""
        with contextlib.suppress(ValueError, IndexError, AttributeError):
            take([names.index(name) for name in self._names])

    def _on_assembly(self, message: Any) -> None:
        self.assembly = message
        self._note(intera.STATE)

    def _on_limits(self, message: Any) -> None:
        self._limits = message
        self._note(intera.LIMITS)

    def _on_collision(self, message: Any) -> None:
        self._collided = self._collided or bool(message.collision_state)
