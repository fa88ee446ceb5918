"""What a scene says about an arm that ros2_control moves: its controller, its states, its gripper."""

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
    """What the joint_state_broadcaster publishes at the controller manager's rate, not a slower copy of it."""
    states_timeout_s: Positive = 0.25
    """[s] without joint states from which on they count as lost, and the arm as one that cannot be led."""
    ahead_s: Positive = 0.5
    """[s] of its way that the controller is told ahead at most: for so long the arm goes on when this computer dies."""
    external_torques: Topic | None = None
    """Of sensor_msgs/JointState, whose efforts [Nm] are what touches the arm; absent: nothing feels contact."""
    gripper: GripperAction | None = None
    """Absent: there is none."""
    hardware: Word | None = None
    """Hardware component that recovery sets active again; absent: it stays active through faults."""
    error_recovery: Topic | None = None
    """Action of franka_msgs/ErrorRecovery that recovery begins with; absent: none."""
