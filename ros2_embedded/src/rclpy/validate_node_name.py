"""Validation of names, see `rclpy.validate_names`."""

from rclpy.validate_names import validate_node_name

__all__ = ["validate_node_name"]
