"""Depth images beside the colour images, rendered only for cameras with `depth` in the scene, and only when due."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.lifecycle import LifecycleNode
from sensor_msgs.msg import CameraInfo, Image

from openral_control.ros.robot_publisher import to_time
from openral_core.graph.namespaces import frame_prefix
from openral_core.ros.qos import NEWEST
from openral_core.scene import SceneCamera
from openral_sim_bridge.backend import CameraModel
from openral_sim_bridge.coordinate_frames import optical_frame
from openral_sim_bridge.ros.camera_messages import camera_info_message

ENCODING = "32FC1"
"""float32 [m] along the optical axis (REP 118)."""


class DepthTopics:
    """Publishes `cameras/<name>/depth/image_rect_raw` and `…/depth/camera_info`. Used from the loop's thread only."""

    def __init__(
        self,
        node: LifecycleNode,
        cameras: Sequence[SceneCamera],
        models: Sequence[CameraModel],
        draw: Callable[[Sequence[str]], Mapping[str, NDArray[np.float32]]],
    ) -> None:
        """Make the publishers of the cameras that have depth.

        Args:
            node: of the publishers.
            cameras: all cameras of the scene.
            models: of the cameras.
            draw: returns the present depth (H, W) float32 [m] of each camera.
        """
        self._draw = draw
        prefix = self._prefix = frame_prefix(node.get_namespace())
        self._topics: dict[str, tuple[Any, Any, Image, CameraInfo]] = {}
        self._every = {camera.name: camera.depth_every for camera in cameras if camera.depth}
        self._seen = dict.fromkeys(self._every, -1)
        self._stamp_s = -1.0
        for model in models:
            if model.name not in self._every:
                continue
            base = f"cameras/{model.name}/depth"
            message = Image(height=model.height, width=model.width, encoding=ENCODING, step=4 * model.width)
            message.header.frame_id = f"{prefix}{optical_frame(model.name)}"
            self._topics[model.name] = (
                node.create_publisher(Image, f"{base}/image_rect_raw", NEWEST),
                node.create_publisher(CameraInfo, f"{base}/camera_info", NEWEST),
                message,
                camera_info_message(model, prefix),
            )

    def place(self, models: Sequence[CameraModel]) -> None:
        """Describe the lenses of the cameras after a reset to another world."""
        for model in models:
            if model.name in self._topics:
                image_publisher, info_publisher, message, _ = self._topics[model.name]
                info = camera_info_message(model, self._prefix)
                self._topics[model.name] = image_publisher, info_publisher, message, info

    def images(self, stamp_s: float, names: Sequence[str]) -> None:
        """Publish the depth images of a stamp [s], of the cameras in `names` for which depth is due.

        A waiting loop publishes its colour images again with the same stamp; then the same depth is published again.
        """
        again = stamp_s == self._stamp_s
        self._stamp_s = stamp_s
        due = []
        for name in names:
            if name in self._every:
                self._seen[name] += not again
                if self._seen[name] % self._every[name] == 0:
                    due.append(name)
        if not due:
            return
        drawn = {} if again else self._draw(due)
        for name in due:
            image_publisher, info_publisher, message, info = self._topics[name]
            if name in drawn:
                message.data = array("B", drawn[name].tobytes())
            message.header.stamp = info.header.stamp = to_time(stamp_s)
            image_publisher.publish(message)
            info_publisher.publish(info)
