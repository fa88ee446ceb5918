"""The kinds of clocks."""

from __future__ import annotations

from enum import IntEnum


class ClockType(IntEnum):
    """ROS time (system or simulated time), system time, and steady time."""

    UNINITIALIZED = 0
    ROS_TIME = 1
    SYSTEM_TIME = 2
    STEADY_TIME = 3
