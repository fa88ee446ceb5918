"""The simulator's own object positions, published only where a deployment sets `sim_positions`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from geometry_msgs.msg import TransformStamped
from numpy.typing import NDArray
from rclpy.lifecycle import LifecycleNode
from tf2_msgs.msg import TFMessage

from openral_control.ros.robot_publisher import to_time
from openral_core.graph.namespaces import frame_prefix
from openral_sim_bridge.backend import WORLD


class PositionTopic:
    """Publishes `sim/positions`: a frame in the world for each object. Used from the loop's thread only."""

    def __init__(
        self, node: LifecycleNode, positions: Callable[[], Mapping[str, NDArray[np.float64]]]
    ) -> None:
        """Make the publisher; `positions` returns the present position (3,) [m] in the world of each object by name."""
        self._positions, self._prefix = positions, frame_prefix(node.get_namespace())
        self._publisher = node.create_publisher(TFMessage, "sim/positions", 1)

    def publish(self, stamp_s: float) -> None:
        """Publish the present positions of the objects with a stamp [s]."""
        frames = []
        for name, position in self._positions().items():
            frame = TransformStamped(child_frame_id=f"{self._prefix}{name}")
            frame.header.frame_id, frame.header.stamp = f"{self._prefix}{WORLD}", to_time(stamp_s)
            shift = frame.transform.translation
            shift.x, shift.y, shift.z = map(float, position)
            frame.transform.rotation.w = 1.0
            frames.append(frame)
        self._publisher.publish(TFMessage(transforms=frames))
