"""Sends transforms that never change on `/tf_static`, latched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tf2_msgs.msg import TFMessage

from rclpy.qos import DurabilityPolicy, QoSProfile

if TYPE_CHECKING:
    from rclpy.node import Node


class StaticTransformBroadcaster:
    """Publishes all its transforms each time one is added, so that late listeners get every one."""

    def __init__(self, node: Node, qos: QoSProfile | int | None = None) -> None:
        """Make the publisher; `qos` None is reliable, transient local, depth 1."""
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.pub_tf = node.create_publisher(TFMessage, "/tf_static", latched if qos is None else qos)
        self.net_message = TFMessage()

    def sendTransform(self, transform: Any) -> None:
        """Add a `geometry_msgs/msg/TransformStamped` or a list of them; one of the same child is replaced."""
        several = list(transform) if isinstance(transform, (list, tuple)) else [transform]
        known = {entry.child_frame_id: entry for entry in self.net_message.transforms}
        known.update({entry.child_frame_id: entry for entry in several})
        self.net_message = TFMessage(transforms=list(known.values()))
        self.pub_tf.publish(self.net_message)
