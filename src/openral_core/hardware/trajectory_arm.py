"""Schema of an arm under ros2_control in a scene: controller, joint states and gripper."""

from __future__ import annotations

from typing import Annotated

from pydantic import StringConstraints

from openral_core.hardware.real_camera import Topic
from openral_core.schema import Positive, Schema, Word

ControllerName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]*$", max_length=100)]


class GripperAction(Schema):
    """A gripper behind an action of control_msgs/GripperCommand."""

    action: Topic
    """Its name."""
    joint: Word
    """Of the fingers, as the gripper's joint states call it."""
    states: Topic | None = None
    """Topic of those joint states; absent: the arm's."""
    max_width_m: Positive
    """[m] between the open fingers."""
    width_scale: Positive = 1.0
    """[m] between the fingers for a position of 1; 2 where the position is that of one of two fingers."""


class TrajectoryArm(Schema):
    """`arm.ros2_control` of a scene. Its defaults are ros2_control's own names."""

    controller: ControllerName = "joint_trajectory_controller"
    """Of type joint_trajectory_controller/JointTrajectoryController; it must be active."""
    manager: Topic = "/controller_manager"
    """The controller manager."""
    states: Topic = "/joint_states"
    """Topic of the joint_state_broadcaster, at the controller manager's rate and not a slower copy."""
    states_timeout_s: Positive = 0.25
    """[s] time without joint states after which they count as lost, and the arm cannot be moved."""
    ahead_s: Positive = 0.5
    """[s] longest trajectory ahead that is sent to the controller: for so long the arm moves on if this computer fails.
    """
    external_torques: Topic | None = None
    """Topic of sensor_msgs/JointState with external torques [Nm] as efforts; absent: contacts are not detected.
    While none come within `states_timeout_s`, the arm holds, as a contact could not be detected."""
    gripper: GripperAction | None = None
    """Absent: there is none."""
    hardware: Word | None = None
    """Hardware component that recovery sets active again; absent: it stays active through faults."""
    error_recovery: Topic | None = None
    """Action of franka_msgs/ErrorRecovery that recovery begins with; absent: none."""
