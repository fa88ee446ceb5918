"""An executor that is driven by events instead of by polling."""

from __future__ import annotations

from rclpy.executors import SingleThreadedExecutor


class EventsExecutor(SingleThreadedExecutor):
    """The same as `SingleThreadedExecutor`, which sleeps until an event wakes it."""
