"""Driver of any arm that a joint trajectory controller of ros2_control moves.

Each message holds a trajectory that ends at rest, and replaces the one before. So the controller itself is the
watchdog: without a new message the arm comes to rest within its limits, even if this process has ended. A stop is such
a message, too. An empty trajectory would not stop the arm: newer ros2_controllers reject it, and on Humble the
controller then commands nothing any more (their issue 683), so that the last velocity or torque stays in effect.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from openral_control.safety.joint_limits import ArmLimits, Vector
from openral_core.hardware.arm_mode import ArmMode
from openral_core.hardware.trajectory_arm import TrajectoryArm
from openral_core.ros.qos import NEWEST
from openral_robot_bridge.driver import ArmError, ArmInfo, ArmState, TrajectoryPoint
from openral_robot_bridge.drivers.ros.controller_manager import ControllerManager
from openral_robot_bridge.drivers.ros.gripper_client import GripperClient
from openral_robot_bridge.drivers.ros.recovery_action import recover_errors

STATES_S = 5.0
"""[s] timeout of the first joint states."""
RATE_S = 0.5
"""[s] over which the rate of joint states is measured on connection."""
LOOK_S = 0.5
"""[s] between two checks that the controller is active."""
CHANGE_S, MOST_RECENT = 0.1, 256
"""[s] over which velocities that are not measured are told from positions, in whose steps the difference of two
successive ones would be all noise; and the largest number of joint states that are kept for it."""
REST_RAD_S = 0.01
"""[rad/s] speed below which every joint counts as at rest."""


class TrajectoryDriver:
    """A `PlannedDriver` of one arm in a ROS domain of its own, in which it has a node."""

    stops_below_rad_s = 0.0

    def __init__(self, domain: int, names: TrajectoryArm, limits: ArmLimits) -> None:
        """Prepare the driver without a connection.

        Args:
            domain: ROS domain of the arm.
            names: of its controller, topics and actions.
            limits: of robot.yaml.
        """
        self._domain, self._names, self._limits = domain, names, limits
        self._joints = limits.names
        self._context = rclpy.Context()
        self._lock = threading.Lock()
        self._positions: Vector | None = None
        self._velocities = np.zeros(len(self._joints))
        self._torques = np.zeros(len(self._joints))
        self._heard_s = self._torques_s = float("-inf")
        self._heard = 0
        self._recent: deque[tuple[float, Vector]] = deque(maxlen=MOST_RECENT)
        """Stamps [s] and positions of the last joint states."""
        self._fault = ""
        self._moving = False
        self._closed = threading.Event()
        self._threads: list[threading.Thread] = []

    def connect(self) -> ArmInfo:
        """Check the controller, and wait for joint states; the arm reports no limits.

        Raises:
            ArmError: the controller manager does not answer, the controller does not fit, the gripper's action is not
                offered, or no joint states come.
        """
        self._context.init(domain_id=self._domain)
        self._node: Any = rclpy.create_node("openral_arm_driver", context=self._context)
        node, names = self._node, self._names
        self._manager = ControllerManager(node, names.manager, names.controller)
        self._trajectories = node.create_publisher(
            JointTrajectory, f"/{names.controller}/joint_trajectory", 10
        )
        node.create_subscription(JointState, names.states, self._on_states, NEWEST)
        if names.external_torques is not None:
            node.create_subscription(JointState, names.external_torques, self._on_torques, NEWEST)
        self._gripper = (
            GripperClient(node, names.gripper, names.states) if names.gripper is not None else None
        )
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(node)
        self._begin(self._spin)
        rate_hz = self._manager.rate_hz()
        try:
            self._manager.check(self._joints)
        except ArmError as error:
            if self._manager.find().state == "active":
                raise
            self._fault = str(error)  # `recover` activates the controller
        if self._gripper is not None:
            self._gripper.require_server()
        versions = {
            "controller": names.controller,
            "controller manager": f"{rate_hz:g} Hz",
            "joint states": f"{self._await_states():.0f} Hz",
        }
        self._begin(self._look)
        free = np.full(len(self._joints), np.inf)
        limits = ArmLimits(self._joints, -free, free, free, free, free, np.zeros(len(free)), free)
        width = names.gripper.max_width_m if names.gripper is not None else 0.0
        return ArmInfo(limits, width, names.ahead_s, versions)

    def read(self) -> ArmState:
        """Return the newest state; its mode is FAULT while the controller is not active or no joint states come.

        Raises:
            ArmError: none have come yet.
        """
        with self._lock:
            if self._positions is None:
                raise ArmError(f"no joint states on {self._names.states} yet")
            faults, patience_s = [self._fault] if self._fault else [], self._names.states_timeout_s
            if time.monotonic() - self._heard_s > patience_s:
                what = f"no joint states on {self._names.states} for more than {patience_s:g} s"
                faults.append(f"{what}; the arm's own controller holds it")
            mode = ArmMode.MOVING if self._moving else ArmMode.IDLE
            return ArmState(
                self._heard_s,
                self._positions.copy(),
                self._velocities.copy(),
                self._external_torques(),
                self._gripper.width_m if self._gripper is not None else 0.0,
                ArmMode.FAULT if faults else mode,
                tuple(faults),
            )

    def follow_plan(self, points: Sequence[TrajectoryPoint]) -> None:
        """Send a trajectory whose last point is at rest, which replaces the former one.

        Raises:
            ArmError: the controller is not active.
        """
        if self._fault:
            raise ArmError(f"the arm cannot be moved: {self._fault}")
        self._moving = True
        message = JointTrajectory(joint_names=list(self._joints), points=[_point(point) for point in points])
        self._trajectories.publish(message)

    def stop(self) -> None:
        """Wait up to 1 s until the arm is at rest; the controller then holds it."""
        due = time.monotonic() + 1.0
        while time.monotonic() < due and np.abs(self._velocities).max() > REST_RAD_S:
            time.sleep(0.005)
        self._moving = False

    def recover(self) -> None:
        """Recover from the arm's errors, then activate the hardware and the controller, in the order of franka_ros2.

        Raises:
            ArmError: one of them fails.
        """
        if self._names.error_recovery is not None:
            recover_errors(self._node, self._names.error_recovery)
        self._manager.activate(self._names.hardware)
        self._manager.check(self._joints)
        self._moving, self._fault = False, ""

    def grip(self, width_m: float, speed_m_s: float, force_n: float) -> None:
        """Begin to open or close the gripper, at its own speed."""
        if self._gripper is not None:
            self._gripper.grip(width_m, force_n)

    def close(self) -> None:
        """Disconnect; the arm comes to rest at the end of its trajectory."""
        self._closed.set()
        if self._context.ok():
            self._executor.shutdown()
            for thread in self._threads:
                thread.join(2.0)
            self._node.destroy_node()
            self._context.try_shutdown()

    def _on_states(self, message: Any) -> None:
        known = {name: index for index, name in enumerate(message.name)}
        if self._gripper is not None:
            self._gripper.hear(self._names.states, message)
        try:
            order = [known[name] for name in self._joints]
        except KeyError:
            return  # a message of other joints, such as the gripper's
        if len(message.position) != len(message.name):
            return  # positions may be left out by a sender that knows only velocities or efforts
        positions = np.array(message.position, np.float64)[order]
        if not np.isfinite(positions).all():
            return  # the joint_state_broadcaster sends NaN until the hardware has measured them
        stamp = message.header.stamp
        stamp_s = stamp.sec + 1e-9 * stamp.nanosec
        velocities = self._change(positions, stamp_s)
        if len(message.velocity) == len(message.name):
            measured = np.array(message.velocity, np.float64)[order]
            velocities = np.where(np.isfinite(measured), measured, velocities)
        with self._lock:
            self._positions, self._velocities = positions, velocities
            self._heard_s, self._heard = time.monotonic(), self._heard + 1

    def _change(self, positions: Vector, stamp_s: float) -> Vector:
        """Return how fast positions (n,) [rad] of a stamp [s] have changed over `CHANGE_S` [rad/s]; 0: not known.

        The joint_state_broadcaster sends NaN as velocities of hardware that measures positions only.
        """
        recent = self._recent
        if recent and not recent[-1][0] < stamp_s:  # its clock was set back, or there is none
            recent.clear()
        recent.append((stamp_s, positions))
        while len(recent) > 2 and stamp_s - recent[1][0] >= CHANGE_S:
            recent.popleft()  # one that is older stays, since states may be further apart
        since_s, before = recent[0]
        return (positions - before) / max(stamp_s - since_s, 1e-6)

    def _on_torques(self, message: Any) -> None:
        known = dict(zip(message.name, message.effort, strict=False))
        with self._lock:
            self._torques = np.array([known.get(name, np.nan) for name in self._joints])
            self._torques_s = time.monotonic()

    def _external_torques(self) -> Vector:
        """Return the external torques (n,) [Nm]: 0 if the arm has no topic of them, NaN where none came in time.

        With NaN the contact check holds the arm.
        """
        late = time.monotonic() - self._torques_s > self._names.states_timeout_s
        if self._names.external_torques is not None and late:
            return np.full(len(self._joints), np.nan)
        return self._torques.copy()

    def _await_states(self) -> float:
        """Wait for joint states, and return their rate [Hz].

        Raises:
            ArmError: none come within STATES_S.
        """
        due = time.monotonic() + STATES_S
        while self._positions is None:
            if time.monotonic() > due:
                raise ArmError(
                    f"no joint states of {', '.join(self._joints)} on {self._names.states} within {STATES_S:g} s; is "
                    "the joint_state_broadcaster active, and does robot.yaml call the joints as the arm does?"
                )
            time.sleep(0.01)
        before = self._heard
        time.sleep(RATE_S)
        return (self._heard - before) / RATE_S

    def _begin(self, body: Any) -> None:
        thread = threading.Thread(target=body, name=body.__name__.strip("_"), daemon=True)
        self._threads.append(thread)
        thread.start()

    def _spin(self) -> None:
        try:
            self._executor.spin()
        except ExternalShutdownException:
            return

    def _look(self) -> None:
        """Check every LOOK_S that the controller is still active; if not, that is a fault until `recover`."""
        while not self._closed.wait(LOOK_S):
            try:
                self._manager.check(self._joints)
            except ArmError as error:
                if not self._closed.is_set():
                    self._fault = str(error)


def _point(point: TrajectoryPoint) -> JointTrajectoryPoint:
    message = JointTrajectoryPoint(positions=point.positions.tolist(), velocities=point.velocities.tolist())
    if point.accelerations is not None:
        message.accelerations = point.accelerations.tolist()
    nanoseconds = round(1e9 * point.after_s)
    message.time_from_start.sec, message.time_from_start.nanosec = divmod(nanoseconds, 1_000_000_000)
    return message
