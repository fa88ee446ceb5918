"""`EventsExecutor`: here every executor works by events, so it is the single-threaded one."""

from rclpy.experimental.events_executor import EventsExecutor

__all__ = ["EventsExecutor"]
