"""Validation of names, see `rclpy.validate_names`."""

from rclpy.validate_names import validate_full_topic_name

__all__ = ["validate_full_topic_name"]
