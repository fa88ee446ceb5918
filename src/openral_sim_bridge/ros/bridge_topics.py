"""The topics of the bridge: messages that are made once and filled in at every control step."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import PointStamped, PoseStamped, TransformStamped
from numpy.typing import NDArray
from rclpy.lifecycle import LifecycleNode
from rclpy.qos import QoSDurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CameraInfo, Image, JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from openral_core.types import RobotState
from openral_sim_bridge.backend import WORLD, CameraModel, Frame
from openral_sim_bridge.frames import LinkFrames, camera_frame, optical_frame
from openral_sim_bridge.ros.camera_messages import BEST_EFFORT, camera_info_message, to_time
from openral_sim_bridge.ros.depth_topics import DepthTopics

LATCHED = QoSProfile(depth=1, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)


class BridgeTopics:
    """Publishes what the control loop observes. Used from the loop's thread only."""

    def __init__(
        self,
        node: LifecycleNode,
        cameras: Sequence[CameraModel],
        links: LinkFrames,
        joint_positions: Callable[[], Mapping[str, float]],
        urdf: str,
        depth: DepthTopics,
    ) -> None:
        """Make the publishers; latch the robot's description and the frames that never move.

        Args:
            node: which publishes.
            cameras: models of the published cameras.
            links: frames of the robot.
            joint_positions: returns the present position of every joint of the URDF.
            urdf: text for `/robot_description`.
            depth: publishes the depth images beside the colour images.
        """
        self._links, self._positions, self._depth = links, joint_positions, depth
        self._clock = node.create_publisher(Clock, "/clock", BEST_EFFORT)
        self._joints = node.create_publisher(JointState, "/joint_states", 10)
        self._pose = node.create_publisher(PoseStamped, "/openral/ee_pose", 10)
        self._target = node.create_publisher(PointStamped, "/openral/ee_target", 10)
        self._tf = node.create_publisher(TFMessage, "/tf", 100)
        self._tf_static = node.create_publisher(TFMessage, "/tf_static", LATCHED)
        self._description = node.create_publisher(String, "/robot_description", LATCHED)
        self._images = {
            camera.name: (
                node.create_publisher(Image, f"/openral/cameras/{camera.name}/image_raw", BEST_EFFORT),
                node.create_publisher(CameraInfo, f"/openral/cameras/{camera.name}/camera_info", BEST_EFFORT),
                _image_message(camera),
                camera_info_message(camera),
            )
            for camera in cameras
        }
        self._clock_message = Clock()
        self._joint_message = JointState()
        self._pose_message = PoseStamped()
        self._target_message = PointStamped()
        self._pose_message.header.frame_id = self._target_message.header.frame_id = WORLD
        self._tf_message = TFMessage(
            transforms=[_transform(frame) for frame in links.moving(dict.fromkeys(links.joint_names, 0.0))]
        )
        static = [_transform(frame) for frame in [*links.fixed(), *map(camera_frame, cameras)]]
        self._tf_static.publish(TFMessage(transforms=static))
        self._description.publish(String(data=urdf))

    def clock(self, stamp_s: float) -> None:
        """Publish simulation time."""
        self._clock_message.clock = to_time(stamp_s)
        self._clock.publish(self._clock_message)

    def state(self, state: RobotState) -> None:
        """Publish `/joint_states`, the robot's and then those that only its model has, and the hand's pose.

        Before them, on the same stamp, where the controller leads the hand, if it is known.
        """
        stamp = to_time(state.stamp_s)
        if state.ee_target is not None:
            target = self._target_message
            target.header.stamp = stamp
            target.point.x, target.point.y, target.point.z = map(float, state.ee_target)
            self._target.publish(target)
        joints = self._joint_message
        if not joints.name:
            known = set(state.joint_names)
            self._extra = [name for name in self._links.joint_names if name not in known]
            joints.name = [*state.joint_names, *self._extra]
        positions = self._positions() if self._extra else {}
        joints.header.stamp = stamp
        joints.position = [*map(float, state.joint_positions), *(positions[name] for name in self._extra)]
        self._joints.publish(joints)
        pose = self._pose_message
        pose.header.stamp = stamp
        _fill(pose.pose.position, pose.pose.orientation, state.ee_position, state.ee_quaternion)
        self._pose.publish(pose)

    def images(self, stamp_s: float, images: Mapping[str, NDArray[np.uint8]]) -> None:
        """Publish images, their camera_info, depth where it is due, and `/tf` on one stamp."""
        stamp = to_time(stamp_s)
        for name, image in images.items():
            image_publisher, info_publisher, message, info = self._images[name]
            info.header.stamp = message.header.stamp = stamp
            message.data = array("B", image.tobytes())
            image_publisher.publish(message)  # first: a policy waits for it
            info_publisher.publish(info)
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
        self._depth.images(stamp_s, list(images))


def _image_message(camera: CameraModel) -> Image:
    message = Image(height=camera.height, width=camera.width, encoding="rgb8", step=3 * camera.width)
    message.header.frame_id = optical_frame(camera.name)
    return message


def _transform(frame: Frame) -> TransformStamped:
    message = TransformStamped(child_frame_id=frame.child)
    message.header.frame_id = frame.parent
    _fill(message.transform.translation, message.transform.rotation, frame.position, frame.quaternion)
    return message


def _fill(
    point: Any, orientation: Any, position: NDArray[np.float64], quaternion: NDArray[np.float64]
) -> None:
    point.x, point.y, point.z = map(float, position)
    orientation.x, orientation.y, orientation.z, orientation.w = map(float, quaternion)
