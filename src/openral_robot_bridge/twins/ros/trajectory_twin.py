"""Twin of an arm behind ros2_control: controller manager, trajectory controller, joint states and gripper."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import rclpy
from control_msgs.action import GripperCommand
from controller_manager_msgs.msg import ControllerState
from controller_manager_msgs.srv import ListControllers, SetHardwareComponentState, SwitchController
from lifecycle_msgs.msg import State
from rclpy.action import ActionServer
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from openral_control.safety.joint_limits import limits_of
from openral_core.robot import load_robot
from openral_core.scene import DeployScene
from openral_robot_bridge.driver import TrajectoryPoint
from openral_robot_bridge.drivers.ros.controller_manager import TRAJECTORY_TYPE
from openral_robot_bridge.drivers.ros.recovery_action import error_recovery
from openral_robot_bridge.twins.arm import TwinArm
from openral_robot_bridge.twins.trajectory_controller import FollowedTrajectory

CYCLE_S = 0.001
"""[s] timestep of the physics."""
UPDATE_HZ = 200
"""[Hz] rate of controller and joint states; real controllers run at up to 1000 Hz."""
REST_M = 2e-4
"""[m] largest motion of the fingers within 0.1 s at which they count as at rest."""
HELP = "tell me: kill controller, reflex, silence on, silence off, status, quit"


class TrajectoryTwin:
    """Serves one arm in a ROS domain; physics runs in one thread, the callbacks of the graph in others."""

    help = HELP

    def __init__(self, scene: DeployScene, domain: int, say: Callable[[str], None]) -> None:
        """Compile the scene, and create the services, topics and actions of ros2_control.

        Raises:
            OpenralError: the scene is invalid.
        """
        assert scene.arm is not None
        names, robot = scene.arm.ros2_control, load_robot(scene.robot_id)
        self._names = names
        self._joints = list(limits_of(robot).names)
        self.arm = TwinArm(scene, robot, CYCLE_S)
        """The simulated arm."""
        self._say = say
        self._lock = threading.Lock()
        self._trajectory = FollowedTrajectory(self.arm.positions)
        self.controller, self.hardware = "active", "active"
        self.reflex = self.silent = self._ended = False
        self.accepted = self.rejected = 0
        self._now_s = 0.0
        """[s] time of the controller, which is slower than wall time on a busy machine, and never jumps."""
        self._fastest = 0.0
        self._context = rclpy.Context()
        self._context.init(domain_id=domain)
        node: Any = rclpy.create_node(names.manager.rpartition("/")[2], context=self._context)
        self._node = node
        node.declare_parameter("update_rate", UPDATE_HZ)
        node.create_service(ListControllers, f"{names.manager}/list_controllers", self._on_list)
        node.create_service(SwitchController, f"{names.manager}/switch_controller", self._on_switch)
        node.create_service(
            SetHardwareComponentState, f"{names.manager}/set_hardware_component_state", self._on_hardware
        )
        node.create_subscription(
            JointTrajectory, f"/{names.controller}/joint_trajectory", self._on_trajectory, 10
        )
        self._states = node.create_publisher(JointState, names.states, 10)
        own = names.gripper.states if names.gripper is not None else None
        self._finger_states = None if own is None else node.create_publisher(JointState, own, 10)
        group = ReentrantCallbackGroup()  # the services answer while the fingers move
        self._actions = []
        if names.gripper is not None:
            self._actions.append(
                ActionServer(node, GripperCommand, names.gripper.action, self._on_grip, callback_group=group)
            )
        if names.error_recovery is not None:
            kind = error_recovery()
            self._recovered = kind.Result
            self._actions.append(
                ActionServer(node, kind, names.error_recovery, self._on_recover, callback_group=group)
            )
        self._executor = MultiThreadedExecutor(3, context=self._context)
        self._executor.add_node(node)
        self._thread = threading.Thread(target=self._spin, name="graph", daemon=True)
        self._thread.start()

    def tell(self, line: str) -> None:
        """Execute a command of HELP and print the twin's state; may be called from any thread."""
        self._say(self._do(line))

    def _do(self, line: str) -> str:
        words = line.split()
        if words == ["kill", "controller"]:
            self._stand("inactive", self.hardware)
        elif words == ["reflex"]:
            self.reflex = True
            self._stand("inactive", "unconfigured")
        elif words[:1] == ["silence"] and words[1:] in (["on"], ["off"]):
            self.silent = words[1] == "on"
        elif words == ["quit"]:
            self._ended = True
        elif words != ["status"]:
            return HELP
        with self._lock:
            moving = np.abs(self.arm.velocities).max() > 0.01
            fastest, self._fastest = self._fastest, 0.0
        what = "moving" if moving else "still"
        counts = f"accepted={self.accepted} rejected={self.rejected}"
        return f"{what} controller={self.controller} {counts} fastest={fastest:.3f}"

    def serve(self) -> None:
        """Simulate until the command `quit`."""
        due = time.monotonic()
        try:
            while not self._ended:
                self._update()
                due = max(
                    due + 1.0 / UPDATE_HZ, time.monotonic() - 0.1
                )  # after a delay, up to 0.1 s are caught up
                time.sleep(max(0.0, due - time.monotonic()))
        finally:
            self._executor.shutdown()
            self._thread.join(2.0)
            for action in self._actions:
                action.destroy()
            self._node.destroy_node()
            self._context.try_shutdown()

    def _update(self) -> None:
        """Run one cycle of the controller manager."""
        with self._lock:
            self._now_s += 1.0 / UPDATE_HZ
            positions, velocities, _ = self._trajectory.at(self._now_s)
            self.arm.hold(positions, velocities)
            for _ in range(round(1.0 / UPDATE_HZ / CYCLE_S)):
                self.arm.advance()
            self._fastest = max(self._fastest, float(np.abs(self.arm.velocities).max()))
            message = JointState(
                name=list(self._joints),
                position=self.arm.positions.tolist(),
                velocity=self.arm.velocities.tolist(),
                effort=self.arm.carried.tolist(),
            )
            width = self.arm.width
        message.header.stamp = self._node.get_clock().now().to_msg()
        if not self.silent:
            self._publish(message, width)

    def _publish(self, message: JointState, width: float) -> None:
        """Publish the arm's joint states, and the finger's in the same message or on a topic of its own."""
        gripper = self._names.gripper
        if gripper is not None:
            finger = width / gripper.width_scale
            if self._finger_states is None:
                message.name, message.position = [*message.name, gripper.joint], [*message.position, finger]
                message.velocity, message.effort = [*message.velocity, 0.0], [*message.effort, 0.0]
            else:
                self._finger_states.publish(JointState(name=[gripper.joint], position=[finger]))
        self._states.publish(message)

    def _stand(self, controller: str, hardware: str) -> None:
        """Set the states of controller and hardware, and hold the arm at its present posture."""
        with self._lock:
            self.controller, self.hardware = controller, hardware
            self._trajectory.hold(self.arm.positions)

    def _on_trajectory(self, message: Any) -> None:
        order = {name: index for index, name in enumerate(message.joint_names)}
        if self.controller != "active" or set(order) != set(self._joints):
            self.rejected += 1
            return
        places, count = [order[name] for name in self._joints], len(self._joints)
        sizes = {len(numbers) for p in message.points for numbers in (p.positions, p.velocities)}
        sizes |= {len(p.accelerations) for p in message.points} - {0}
        if sizes - {count}:
            self._reject("a point has no position, velocity or acceleration for each joint")
            return
        points = [
            TrajectoryPoint(
                point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec,
                np.array(point.positions, np.float64)[places],
                np.array(point.velocities, np.float64)[places],
                np.array(point.accelerations, np.float64)[places] if len(point.accelerations) else None,
            )
            for point in message.points
        ]
        with self._lock:
            why = self._trajectory.replace(self._now_s, points)
        if why:
            self._reject(why)
        else:
            self.accepted += 1

    def _reject(self, why: str) -> None:
        self.rejected += 1
        self._node.get_logger().error(f"trajectory rejected: {why}", throttle_duration_sec=1.0)

    def _on_list(self, request: Any, response: Any) -> Any:
        claimed = [f"{name}/position" for name in self._joints] if self.controller == "active" else []
        kinds = {self._names.controller: TRAJECTORY_TYPE}
        kinds["joint_state_broadcaster"] = "joint_state_broadcaster/JointStateBroadcaster"
        response.controller = [
            ControllerState(
                name=name,
                type=kind,
                state=self.controller if kind == TRAJECTORY_TYPE else "active",
                claimed_interfaces=claimed if kind == TRAJECTORY_TYPE else [],
            )
            for name, kind in kinds.items()
        ]
        for state in response.controller:
            if hasattr(state, "update_rate"):  # not on Humble
                state.update_rate = UPDATE_HZ
        return response

    def _on_switch(self, request: Any, response: Any) -> Any:
        response.ok = self.hardware == "active"
        if hasattr(response, "message"):  # not on Humble
            response.message = "" if response.ok else "the hardware is not active"
        for state, switched in (
            ("inactive", request.deactivate_controllers),
            ("active", request.activate_controllers),
        ):
            if response.ok and self._names.controller in switched:
                self._stand(state, self.hardware)
        return response

    def _on_hardware(self, request: Any, response: Any) -> Any:
        response.ok = not self.reflex
        if response.ok:
            self.hardware = str(request.target_state.label)
        active = self.hardware == "active"
        number = State.PRIMARY_STATE_ACTIVE if active else State.PRIMARY_STATE_UNCONFIGURED
        response.state = State(id=number, label=self.hardware)
        return response

    def _on_recover(self, handle: Any) -> Any:
        self.reflex = False
        handle.succeed()
        return self._recovered()

    def _on_grip(self, handle: Any) -> Any:
        gripper = self._names.gripper
        assert gripper is not None
        command = handle.request.command
        with self._lock:
            self.arm.move_fingers(command.position * gripper.width_scale, 0.1, max(command.max_effort, 1.0))
        width, due = -1.0, time.monotonic() + 3.0
        while abs(self.arm.width - width) > REST_M and time.monotonic() < due:
            width = self.arm.width
            time.sleep(0.1)
        handle.succeed()
        reached = abs(width - command.position * gripper.width_scale) < 0.005
        return GripperCommand.Result(
            position=width / gripper.width_scale, reached_goal=reached, stalled=not reached
        )

    def _spin(self) -> None:
        try:
            self._executor.spin()
        except ExternalShutdownException:
            return
