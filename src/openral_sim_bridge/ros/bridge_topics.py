"""The topics of a simulated world: clock, images, and the robot's states and frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from rclpy.lifecycle import LifecycleNode
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CameraInfo

from openral_control.ros.camera_publisher import ImageTopics
from openral_control.ros.message_batch import Outbox
from openral_control.ros.robot_publisher import RobotTopics, to_time
from openral_core.graph.namespaces import frame_prefix
from openral_core.ros.qos import NEWEST
from openral_core.types import RobotState
from openral_sim_bridge.backend import CameraModel
from openral_sim_bridge.coordinate_frames import LinkFrames, camera_frame, optical_frame
from openral_sim_bridge.ros.camera_messages import camera_info_message
from openral_sim_bridge.ros.depth_topics import DepthTopics


class BridgeTopics:
    """Publishes the observations of the control loop. Used from the loop's thread only."""

    def __init__(
        self,
        node: LifecycleNode,
        cameras: Sequence[CameraModel],
        links: LinkFrames,
        joint_positions: Callable[[], Mapping[str, float]],
        urdf: str,
        outbox: Outbox,
        depth: DepthTopics,
    ) -> None:
        """Make the publishers; publish the robot's description and its static frames, latched.

        Args:
            node: of the publishers.
            cameras: models of the published cameras.
            links: frames of the robot.
            joint_positions: returns the present position [rad or m] of every joint of the URDF.
            urdf: text for `/robot_description`.
            outbox: sends the clock and the robot's states.
            depth: publishes the depth images beside the colour images.
        """
        self._depth, self._outbox = depth, outbox
        prefix = self._prefix = frame_prefix(node.get_namespace())
        self._clock = node.create_publisher(Clock, "/clock", NEWEST)
        self._robot = RobotTopics(node, links, joint_positions, urdf, outbox, map(camera_frame, cameras))
        self._images = {
            camera.name: (
                ImageTopics(
                    node, camera.name, (camera.width, camera.height), f"{prefix}{optical_frame(camera.name)}"
                ),
                node.create_publisher(CameraInfo, f"cameras/{camera.name}/camera_info", NEWEST),
                camera_info_message(camera, prefix),
            )
            for camera in cameras
        }
        self._clock_message = Clock()

    def place(self, links: LinkFrames, cameras: Sequence[CameraModel]) -> None:
        """Publish where robot and cameras stand after a reset to another world, and describe the lenses there."""
        self._robot.place([*links.fixed(), *map(camera_frame, cameras)])
        for camera in cameras:
            pictures, info_publisher, _ = self._images[camera.name]
            self._images[camera.name] = pictures, info_publisher, camera_info_message(camera, self._prefix)
        self._depth.place(cameras)

    def clock(self, stamp_s: float) -> None:
        """Publish the simulation time [s]."""
        self._clock_message.clock = to_time(stamp_s)
        self._outbox.send(self._clock, self._clock_message)

    def state(self, state: RobotState) -> None:
        """Publish the robot's joints and the hand's pose."""
        self._robot.state(state)

    def images(self, stamp_s: float, images: Mapping[str, NDArray[np.uint8]]) -> None:
        """Publish images (H, W, 3) uint8 RGB, their camera_info, depth that is due, and `/tf`, with one stamp [s]."""
        stamp = to_time(stamp_s)
        for name, image in images.items():
            pictures, info_publisher, info = self._images[name]
            info.header.stamp = stamp
            pictures.publish(stamp, image)  # first, since a policy waits for it
            info_publisher.publish(info)
        self._robot.links(stamp_s)
        self._depth.images(stamp_s, list(images))
