"""Publishes the log messages of a node on `/rosout`."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from builtin_interfaces.msg import Time
from rcl_interfaces.msg import Log

from rclpy.exceptions import InvalidHandle
from rclpy.impl.errors import RCLError
from rclpy.logging import LogRecord, add_rosout_sink, remove_rosout_sink
from rclpy.qos import qos_profile_rosout_default

if TYPE_CHECKING:
    from rclpy.node import Node


class RosoutPublisher:
    """The sink of a node's logger and its children."""

    def __init__(self, node: Node) -> None:
        """Create the publisher and attach to the node's logger."""
        self._name = node.get_logger().name
        self._publisher = node.create_publisher(Log, "/rosout", qos_profile_rosout_default)
        node._rclpy_publishers.remove(self._publisher)  # not one of the node's publishers for its owner
        self._sink = self._publish  # one bound method, so that it can be found again
        add_rosout_sink(self._name, self._sink)

    def _publish(self, record: LogRecord) -> None:
        seconds, nanoseconds = divmod(record.stamp, 1_000_000_000)
        message = Log(
            stamp=Time(sec=seconds, nanosec=nanoseconds),
            level=int(record.severity),
            name=record.name,
            msg=record.message,
            file=record.file,
            function=record.function,
            line=record.line,
        )
        with suppress(RCLError, InvalidHandle):  # the program logs its end: that must not fail
            self._publisher.publish(message)

    def destroy(self) -> None:
        """Detach from the logger and destroy the publisher."""
        remove_rosout_sink(self._name, self._sink)
        self._publisher.destroy()
