"""Where programs import `RcutilsLogger` from."""

from rclpy.logging import RcutilsLogger
from rclpy.passed_on import pass_on

__all__ = ["RcutilsLogger"]

pass_on(__name__)
