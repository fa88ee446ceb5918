"""The former name of `rclpy.event_handler`."""

from __future__ import annotations

from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks, UnsupportedEventTypeError

__all__ = ["PublisherEventCallbacks", "SubscriptionEventCallbacks", "UnsupportedEventTypeError"]
