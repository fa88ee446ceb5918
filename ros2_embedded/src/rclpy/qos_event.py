"""The former name of `rclpy.event_handler`."""

from rclpy.event_handler import *  # noqa: F403
from rclpy.event_handler import __all__ as __all__
from rclpy.passed_on import pass_on

pass_on(__name__)
