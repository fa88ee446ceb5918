"""Launching ROS nodes: the names of the ROS 2 package `launch_ros` on top of `launch`.

rclpy is imported only when a launch file talks to nodes itself, as lifecycle nodes require.
"""

from . import actions, descriptions, event_handlers, events, parameter_descriptions, substitutions

__all__ = ["actions", "descriptions", "event_handlers", "events", "parameter_descriptions", "substitutions"]
