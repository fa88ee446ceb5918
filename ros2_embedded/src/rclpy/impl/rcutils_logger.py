"""Where programs import `RcutilsLogger` from."""

from rclpy.logging import RcutilsLogger

__all__ = ["RcutilsLogger"]
