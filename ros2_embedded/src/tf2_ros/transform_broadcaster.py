"""Sends transforms on `/tf`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tf2_msgs.msg import TFMessage

from rclpy.qos import QoSProfile

if TYPE_CHECKING:
    from rclpy.node import Node


class TransformBroadcaster:
    """Publishes transforms that change."""

    def __init__(self, node: Node, qos: QoSProfile | int | None = None) -> None:
        """Make the publisher; `qos` None is reliable with depth 100."""
        self.pub_tf = node.create_publisher(TFMessage, "/tf", QoSProfile(depth=100) if qos is None else qos)

    def sendTransform(self, transform: Any) -> None:
        """Publish a `geometry_msgs/msg/TransformStamped`, or a list of them in one message."""
        several = list(transform) if isinstance(transform, (list, tuple)) else [transform]
        self.pub_tf.publish(TFMessage(transforms=several))
