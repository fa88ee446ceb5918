"""Validation of names, see `rclpy.validate_names`."""

from rclpy.passed_on import pass_on
from rclpy.validate_names import validate_full_topic_name

__all__ = ["validate_full_topic_name"]

pass_on(__name__)
