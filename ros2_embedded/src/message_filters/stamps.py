"""The time of a message, for the filters that look at it."""

from __future__ import annotations

from typing import Any

from rclpy.clock import ROSClock
from rclpy.logging import get_logger
from rclpy.time import Time

_LOGGER = "message_filters"


def as_time(stamp: Any) -> Time:
    """A stamp of a header as a time; `rclpy.time.Time` stays what it is."""
    return stamp if isinstance(stamp, Time) else Time.from_msg(stamp)


def time_of(msg: Any, allow_headerless: bool, filter_name: str) -> Time | None:
    """The time of a message, by which a filter stores it.

    Args:
        msg: any message.
        allow_headerless: take the current ROS time for a message without `header.stamp`.
        filter_name: the filter that is named in the warning.

    Returns:
        The time, or None where the message has none and may not be stored.
    """
    stamp = getattr(getattr(msg, "header", None), "stamp", None)
    if stamp is not None and getattr(stamp, "sec", 0) < 0:
        get_logger(_LOGGER).warning(
            f"{filter_name} leaves out a message of a time before the clock's zero", throttle_duration_sec=1.0
        )
        return None
    if stamp is not None:
        return as_time(stamp)
    if allow_headerless:
        return ROSClock().now()
    get_logger(_LOGGER).warning(
        f"{filter_name} can only use messages with a header.stamp; allow_headerless=True takes the time of "
        "arrival for the others"
    )
    return None
