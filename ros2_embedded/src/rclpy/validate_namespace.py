"""Validation of names, see `rclpy.validate_names`."""

from rclpy.validate_names import validate_namespace

__all__ = ["validate_namespace"]
