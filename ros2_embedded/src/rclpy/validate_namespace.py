"""Validation of names, see `rclpy.validate_names`."""

from rclpy.passed_on import pass_on
from rclpy.validate_names import validate_namespace

__all__ = ["validate_namespace"]

pass_on(__name__)
