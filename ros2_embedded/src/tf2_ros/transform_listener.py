"""Fills a buffer from `/tf` and `/tf_static`."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from tf2_msgs.msg import TFMessage

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from tf2_py import InvalidArgumentException

if TYPE_CHECKING:
    from tf2_ros.buffer import Buffer

DEFAULT_TF_TOPIC = "/tf"
DEFAULT_STATIC_TF_TOPIC = "/tf_static"


class TransformListener:
    """Subscribes for a buffer."""

    def __init__(
        self,
        buffer: Buffer,
        node: Node | None,
        *,
        spin_thread: bool = False,
        qos: QoSProfile | int | None = None,
        static_qos: QoSProfile | int | None = None,
        tf_topic: str = DEFAULT_TF_TOPIC,
        tf_static_topic: str = DEFAULT_STATIC_TF_TOPIC,
        static_only: bool = False,
    ) -> None:
        """Subscribe.

        Args:
            buffer: gets the transforms.
            node: makes the subscriptions; None makes a node of the listener's own, in the default context.
            spin_thread: spin the node in a thread of the listener's own; nobody else may spin it then.
            qos, static_qos: profiles; None is reliable with depth 100, the static one transient local.
            tf_topic, tf_static_topic: topics.
            static_only: leave `tf_topic` alone.
        """
        if node is None:
            node = Node(
                f"transform_listener_impl_{id(self):x}", enable_rosout=False, start_parameter_services=False
            )
        self.buffer, self.node = buffer, node
        latched = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.group = ReentrantCallbackGroup()
        self.tf_sub = None
        if not static_only:
            self.tf_sub = node.create_subscription(
                TFMessage,
                tf_topic,
                self.callback,
                QoSProfile(depth=100) if qos is None else qos,
                callback_group=self.group,
            )
        self.tf_static_sub = node.create_subscription(
            TFMessage,
            tf_static_topic,
            self.static_callback,
            latched if static_qos is None else static_qos,
            callback_group=self.group,
        )
        self.executor: SingleThreadedExecutor | None = None
        if spin_thread:
            self.executor = SingleThreadedExecutor(context=node.context)
            self.executor.add_node(node)
            self.dedicated_listener_thread = threading.Thread(target=self._spin, daemon=True)
            self.dedicated_listener_thread.start()

    def _spin(self) -> None:
        """Spin until the listener is unregistered or the context is shut down."""
        if self.executor is not None:
            try:
                self.executor.spin()
            except ExternalShutdownException:
                return

    def callback(self, data: Any) -> None:
        """Store changing transforms."""
        self._store(data, self.buffer.set_transform)

    def static_callback(self, data: Any) -> None:
        """Store static transforms."""
        self._store(data, self.buffer.set_transform_static)

    def _store(self, data: Any, setter: Any) -> None:
        for transform in data.transforms:
            try:
                setter(transform, "default_authority")
            except InvalidArgumentException as error:  # a bad sender must not end this node
                self.node.get_logger().error(f"ignored a transform: {error}", throttle_duration_sec=1.0)

    def unregister(self) -> None:
        """Stop listening."""
        if self.executor is not None:
            self.executor.shutdown()
            if threading.current_thread() is not self.dedicated_listener_thread:
                self.dedicated_listener_thread.join()
        if self.tf_sub is not None:
            self.node.destroy_subscription(self.tf_sub)
        self.node.destroy_subscription(self.tf_static_sub)
