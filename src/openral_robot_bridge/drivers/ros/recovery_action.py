"""Recovery from a reflex by franka_ros2's action."""

from __future__ import annotations

import importlib
import time
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from rclpy.node import Node

from openral_core.errors import InstallationError
from openral_robot_bridge.driver import ArmError

PATIENCE_S = 8.0
"""[s] timeout of recovery, in which the arm may open its brakes."""


def error_recovery() -> Any:
    """Return the action type ErrorRecovery of franka_msgs, a part of franka_ros2 that openral does not depend on.

    Raises:
        InstallationError: the sourced ROS 2 has no franka_msgs.
    """
    try:
        return importlib.import_module("franka_msgs.action").ErrorRecovery
    except ImportError as error:
        what = "arm.ros2_control.error_recovery needs franka_msgs"
        raise InstallationError(
            f"{what}; install and source franka_ros2, or remove it from the scene"
        ) from error


def recover_errors(node: Node, action: str) -> None:
    """Run an action of franka_msgs/ErrorRecovery to its end; another thread must spin the node.

    Raises:
        ArmError: there is no server of the action, it rejects the goal, or the goal fails or does not end in time.
    """
    kind = error_recovery()
    client = ActionClient(node, kind, action)
    try:
        due = time.monotonic() + PATIENCE_S
        if not client.wait_for_server(timeout_sec=PATIENCE_S / 2):
            raise ArmError(f"nobody offers the action {action}; is the arm's own driver running?")
        sent = client.send_goal_async(kind.Goal())
        _await(sent, due, action)
        handle = sent.result()
        if handle is None or not handle.accepted:
            raise ArmError(f"{action} refuses to recover; release the user stop, and look at Desk")
        ended = handle.get_result_async()
        _await(ended, due, action)
        answer = ended.result()
        if answer is None or answer.status != GoalStatus.STATUS_SUCCEEDED:
            raise ArmError(f"{action} did not recover the arm; release the user stop, and look at Desk")
    finally:
        client.destroy()


def _await(future: Any, due: float, action: str) -> None:
    while not future.done():
        if time.monotonic() > due:
            raise ArmError(f"{action} did not end within {PATIENCE_S:g} s")
        time.sleep(0.005)
