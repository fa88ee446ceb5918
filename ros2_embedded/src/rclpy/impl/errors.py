"""The errors of the layer below rclpy; programs catch them as `rclpy._rclpy_pybind11.RCLError`."""

from __future__ import annotations


class RCLError(RuntimeError):
    """Base of what the C library reports in ROS 2."""


class RCLInvalidROSArgsError(RCLError):
    """A ROS argument cannot be understood."""


class UnknownROSArgsError(RuntimeError):
    """Words after `--ros-args` that no ROS argument is."""


class UnsupportedEventTypeError(RCLError):
    """The middleware has no such event, or no such feature."""


class NodeNameNonExistentError(RCLError):
    """No node of that name is in the graph."""


class TimerCancelledError(RCLError):
    """A canceled timer cannot be called."""
