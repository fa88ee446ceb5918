"""Quality of service of the topics that the console's nodes hear and write."""

from __future__ import annotations

from rclpy.qos import QoSDurabilityPolicy, QoSProfile


def latched(depth: int) -> QoSProfile:
    """Return the profile of a topic whose newest messages are told to those that come late."""
    return QoSProfile(depth=depth, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
