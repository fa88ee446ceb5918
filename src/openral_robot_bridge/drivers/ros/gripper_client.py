"""Client of a gripper with an action control_msgs/GripperCommand, as in ros2_controllers and franka_gripper."""

from __future__ import annotations

import math
from typing import Any

from control_msgs.action import GripperCommand
from rclpy.action import ActionClient
from rclpy.node import Node
from sensor_msgs.msg import JointState

from openral_core.hardware.trajectory_arm import GripperAction
from openral_core.ros.qos import NEWEST
from openral_robot_bridge.driver import ArmError

FIND_S = 5.0
"""[s] timeout of finding the action."""


class GripperClient:
    """Latest width and latest command of a gripper; no call waits."""

    def __init__(self, node: Node, gripper: GripperAction, arm_states: str) -> None:
        """Subscribe to the gripper's joint states, unless they are on the arm's topic `arm_states`; see `hear`."""
        self._gripper = gripper
        self._client = ActionClient(node, GripperCommand, gripper.action)
        self.width_m = gripper.max_width_m
        """[m] between the fingers, by the last joint states; the largest width before the first."""
        self._arm_states = arm_states
        if gripper.states is not None and gripper.states != arm_states:
            node.create_subscription(JointState, gripper.states, self._take, NEWEST)

    def require_server(self) -> None:
        """Wait until the gripper's action is offered, since a command before that would be lost.

        Raises:
            ArmError: nobody offers it.
        """
        if not self._client.wait_for_server(timeout_sec=FIND_S):
            raise ArmError(
                f"nobody offers the gripper's action {self._gripper.action}; start its controller, or correct "
                "arm.ros2_control.gripper in the scene"
            )

    def hear(self, topic: str, message: Any) -> None:
        """Take joint states from a topic of the arm, which may include the gripper's joint."""
        if self._gripper.states in (None, topic):
            self._take(message)

    def grip(self, width_m: float, force_n: float) -> None:
        """Begin to move the fingers to a width [m] with a largest force [N]; this replaces an earlier command."""
        goal = GripperCommand.Goal()
        goal.command.position = width_m / self._gripper.width_scale
        goal.command.max_effort = force_n
        self._client.send_goal_async(goal)

    def _take(self, message: Any) -> None:
        for name, position in zip(message.name, message.position, strict=False):
            if name == self._gripper.joint and math.isfinite(position):  # NaN: it is not measured yet
                self.width_m = float(position) * self._gripper.width_scale
