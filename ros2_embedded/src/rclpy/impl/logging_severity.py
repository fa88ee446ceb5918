"""Where programs import `LoggingSeverity` from."""

from rclpy.logging import LoggingSeverity

__all__ = ["LoggingSeverity"]
