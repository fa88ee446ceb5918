"""Points and spans of time as programs give them: of rclpy, or as messages."""

from __future__ import annotations

from typing import Any, TypeAlias

from rclpy.duration import Duration
from rclpy.time import Time

SomeTime: TypeAlias = "Time | Any"
"""`rclpy.time.Time`, or anything with `sec` and `nanosec`, such as `builtin_interfaces/msg/Time`."""
SomeDuration: TypeAlias = "Duration | Any"
"""`rclpy.duration.Duration`, or anything with `sec` and `nanosec`."""


def as_nanoseconds(moment: SomeTime | SomeDuration) -> int:
    """Return a point or a span of time in nanoseconds.

    Raises:
        TypeError: it is none.
    """
    if isinstance(moment, (Time, Duration)):
        return int(moment.nanoseconds)
    if hasattr(moment, "sec") and hasattr(moment, "nanosec"):
        return int(moment.sec) * 1_000_000_000 + int(moment.nanosec)
    raise TypeError(f"{moment!r} is no time: give an rclpy Time or Duration, or a message of either")


class AnyClockTime(Time):
    """A time that compares with times of any clock: transforms do not say whose clock their stamps are of."""

    def _same_clock(self, other: Time, reason: str = "") -> None:
        """Accept every clock."""
