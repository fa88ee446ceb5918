"""The former name of `rclpy.event_handler`."""

from rclpy.event_handler import *  # noqa: F403
from rclpy.event_handler import __all__ as __all__
