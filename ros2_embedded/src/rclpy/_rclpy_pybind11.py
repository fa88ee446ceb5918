"""The names of rclpy's C extension that programs use: its errors and enumerations.

The entities of the extension (`Node`, `WaitSet`, ...) have no counterpart: there is no C library below.
"""

from __future__ import annotations

from rclpy.clock_type import ClockType
from rclpy.exceptions import InvalidHandle
from rclpy.impl.errors import (
    NodeNameNonExistentError,
    RCLError,
    RCLInvalidROSArgsError,
    TimerCancelledError,
    UnknownROSArgsError,
    UnsupportedEventTypeError,
)
from rclpy.impl.rmw_qos_profile import rmw_qos_profile_t
from rclpy.lifecycle.state_machine import TransitionCallbackReturn as TransitionCallbackReturnType
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import get_rmw_implementation_identifier as rclpy_get_rmw_implementation_identifier
from rclpy.utilities import remove_ros_args as rclpy_remove_ros_args

__all__ = [
    "ClockType",
    "InvalidHandle",
    "NodeNameNonExistentError",
    "RCLError",
    "RCLInvalidROSArgsError",
    "SignalHandlerOptions",
    "TimerCancelledError",
    "TransitionCallbackReturnType",
    "UnknownROSArgsError",
    "UnsupportedEventTypeError",
    "rclpy_get_rmw_implementation_identifier",
    "rclpy_remove_ros_args",
    "rmw_qos_profile_t",
]
