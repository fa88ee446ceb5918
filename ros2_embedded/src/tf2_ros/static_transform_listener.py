"""Fills a buffer from `/tf_static` alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tf2_ros.transform_listener import DEFAULT_STATIC_TF_TOPIC, DEFAULT_TF_TOPIC, TransformListener

if TYPE_CHECKING:
    from rclpy.node import Node
    from rclpy.qos import QoSProfile
    from tf2_ros.buffer import Buffer

__all__ = ["DEFAULT_STATIC_TF_TOPIC", "DEFAULT_TF_TOPIC", "StaticTransformListener"]


class StaticTransformListener(TransformListener):
    """A `TransformListener` that leaves changing transforms alone."""

    def __init__(
        self,
        buffer: Buffer,
        node: Node | None,
        *,
        spin_thread: bool = False,
        static_qos: QoSProfile | int | None = None,
        tf_static_topic: str = DEFAULT_STATIC_TF_TOPIC,
    ) -> None:
        """Subscribe; arguments as those of `TransformListener`."""
        super().__init__(
            buffer,
            node,
            spin_thread=spin_thread,
            static_qos=static_qos,
            tf_static_topic=tf_static_topic,
            static_only=True,
        )
