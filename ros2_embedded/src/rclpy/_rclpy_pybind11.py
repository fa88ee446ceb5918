"""The names of rclpy's C extension that programs use: its errors, enumerations and entities.

There is no C library below: the entities stand for those of this package, see `rclpy.impl.handles`.
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
from rclpy.impl.handles import ClientHandle as Client
from rclpy.impl.handles import EventHandle
from rclpy.impl.handles import GuardConditionHandle as GuardCondition
from rclpy.impl.handles import ServiceHandle as Service
from rclpy.impl.handles import SubscriptionHandle as Subscription
from rclpy.impl.handles import TimerHandle as Timer
from rclpy.impl.rmw_qos_profile import rmw_qos_profile_t
from rclpy.impl.wait_set import WaitSet
from rclpy.lifecycle.state_machine import TransitionCallbackReturn as TransitionCallbackReturnType
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import get_rmw_implementation_identifier as rclpy_get_rmw_implementation_identifier
from rclpy.utilities import remove_ros_args as rclpy_remove_ros_args

__all__ = [
    "Client",
    "ClockType",
    "EventHandle",
    "GuardCondition",
    "InvalidHandle",
    "NodeNameNonExistentError",
    "RCLError",
    "RCLInvalidROSArgsError",
    "Service",
    "SignalHandlerOptions",
    "Subscription",
    "Timer",
    "TimerCancelledError",
    "TransitionCallbackReturnType",
    "UnknownROSArgsError",
    "UnsupportedEventTypeError",
    "WaitSet",
    "rclpy_get_rmw_implementation_identifier",
    "rclpy_remove_ros_args",
    "rmw_qos_profile_t",
]
