"""The robot's topics, whose messages are created once and filled in at every control step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import PointStamped, PoseStamped, TransformStamped
from numpy.typing import NDArray
from rclpy.lifecycle import LifecycleNode
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from openral_control.ros.message_batch import Outbox
from openral_core.graph.namespaces import frame_prefix
from openral_core.ros.qos import LATCHED
from openral_core.types import RobotState

WORLD = "world"
"""Name of the world frame, without the prefix of the deployment."""


class LinkFrame(Protocol):
    """Pose of frame `child` in frame `parent`."""

    @property
    def parent(self) -> str:
        """Name of the parent frame."""
        ...

    @property
    def child(self) -> str:
        """Name of the child frame."""
        ...

    @property
    def position(self) -> NDArray[np.float64]:
        """(3,) [m]"""
        ...

    @property
    def quaternion(self) -> NDArray[np.float64]:
        """(4,) unit quaternion x, y, z, w"""
        ...


class RobotLinks(Protocol):
    """Frames of the robot's links."""

    joint_names: tuple[str, ...]

    def fixed(self) -> Sequence[LinkFrame]:
        """Return the frame of the root link in the world, and the frames of links on fixed joints."""
        ...

    def moving(self, joint_positions: Mapping[str, float]) -> Sequence[LinkFrame]:
        """Return the frames of links on moving joints, for positions [rad] or [m] of all `joint_names`."""
        ...


def to_time(stamp_s: float) -> Time:
    """Return the message for a stamp [s]."""
    sec, nanosec = divmod(round(stamp_s * 1e9), 1_000_000_000)
    return Time(sec=sec, nanosec=nanosec)


class RobotTopics:
    """Publishes the state and the link frames of the robot. Used from the loop's thread only."""

    def __init__(
        self,
        node: LifecycleNode,
        links: RobotLinks,
        joint_positions: Callable[[], Mapping[str, float]],
        urdf: str,
        outbox: Outbox,
        fixed: Iterable[LinkFrame] = (),
    ) -> None:
        """Create the publishers; publish the robot's description and the static frames, which are latched.

        Args:
            node: which publishes.
            links: frames of the robot's links.
            joint_positions: returns the present position [rad] or [m] of every joint of the URDF by name.
            urdf: text for `/robot_description`.
            outbox: publishes the states.
            fixed: further static frames, such as those of cameras.
        """
        self._links, self._positions, self._outbox = links, joint_positions, outbox
        prefix = self._prefix = frame_prefix(node.get_namespace())
        self._joints = node.create_publisher(JointState, "/joint_states", 10)
        self._pose = node.create_publisher(PoseStamped, "ee_pose", 10)
        self._target = node.create_publisher(PointStamped, "ee_target", 10)
        self._tf = node.create_publisher(TFMessage, "/tf", 100)
        self._tf_static = node.create_publisher(TFMessage, "/tf_static", LATCHED)
        self._description = node.create_publisher(String, "/robot_description", LATCHED)
        self._joint_message = JointState()
        self._pose_message = PoseStamped()
        self._target_message = PointStamped()
        self._pose_message.header.frame_id = self._target_message.header.frame_id = f"{prefix}{WORLD}"
        self._tf_message = TFMessage(
            transforms=[
                _transform(frame, prefix) for frame in links.moving(dict.fromkeys(links.joint_names, 0.0))
            ]
        )
        self.place([*links.fixed(), *fixed])
        self._description.publish(String(data=urdf))

    def place(self, fixed: Iterable[LinkFrame]) -> None:
        """Publish all static frames, which are latched in place of those that were published before."""
        self._tf_static.publish(TFMessage(transforms=[_transform(frame, self._prefix) for frame in fixed]))

    def state(self, state: RobotState) -> None:
        """Publish `ee_target` (if it is known), `/joint_states` and `ee_pose` with the same stamp, in this order.

        The joints are those of the state, followed by those of the URDF that the state does not have.
        """
        stamp = to_time(state.stamp_s)
        if state.ee_target is not None:
            target = self._target_message
            target.header.stamp = stamp
            target.point.x, target.point.y, target.point.z = map(float, state.ee_target)
            self._outbox.send(self._target, target)
        joints = self._joint_message
        if not joints.name:
            known = set(state.joint_names)
            self._extra = [name for name in self._links.joint_names if name not in known]
            joints.name = [*state.joint_names, *self._extra]
        positions = self._positions() if self._extra else {}
        joints.header.stamp = stamp
        joints.position = [*map(float, state.joint_positions), *(positions[name] for name in self._extra)]
        self._outbox.send(self._joints, joints)
        pose = self._pose_message
        pose.header.stamp = stamp
        _fill(pose.pose.position, pose.pose.orientation, state.ee_position, state.ee_quaternion)
        self._outbox.send(self._pose, pose)

    def links(self, stamp_s: float) -> None:
        """Publish `/tf` with the frames of the moving links at the present joint positions."""
        stamp = to_time(stamp_s)
        moving = self._links.moving(self._positions())
        for transform, frame in zip(self._tf_message.transforms, moving, strict=True):
            transform.header.stamp = stamp
            _fill(
                transform.transform.translation,
                transform.transform.rotation,
                frame.position,
                frame.quaternion,
            )
        self._tf.publish(self._tf_message)


def _transform(frame: LinkFrame, prefix: str) -> TransformStamped:
    message = TransformStamped(child_frame_id=f"{prefix}{frame.child}")
    message.header.frame_id = f"{prefix}{frame.parent}"
    _fill(message.transform.translation, message.transform.rotation, frame.position, frame.quaternion)
    return message


def _fill(
    point: Any, orientation: Any, position: NDArray[np.float64], quaternion: NDArray[np.float64]
) -> None:
    point.x, point.y, point.z = map(float, position)
    orientation.x, orientation.y, orientation.z, orientation.w = map(float, quaternion)
