"""Feeds the clocks of a node from `/clock` while the parameter `use_sim_time` is true."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rosgraph_msgs.msg import Clock as ClockMsg

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.clock import ROSClock
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.time import Time

if TYPE_CHECKING:
    from rclpy.node import Node
    from rclpy.subscription import Subscription

CLOCK_TOPIC = "/clock"
USE_SIM_TIME_NAME = "use_sim_time"


class TimeSource:
    """Watches `use_sim_time` of a node and sets its ROS clocks."""

    def __init__(self, *, node: Node) -> None:
        """Attach to a node, declaring the parameter if it is not yet."""
        self._node = node
        self._clocks: list[ROSClock] = []
        self._subscription: Subscription[Any] | None = None
        self._last = Time(clock_type=node.get_clock().clock_type)
        self._group = MutuallyExclusiveCallbackGroup()
        if not node.has_parameter(USE_SIM_TIME_NAME):
            node.declare_parameter(
                USE_SIM_TIME_NAME,
                False,
                ParameterDescriptor(description="Follow /clock instead of system time."),
            )
        self.ros_time_is_active = bool(node.get_parameter(USE_SIM_TIME_NAME).value)
        node.add_on_set_parameters_callback(self._check_parameters)
        node.add_post_set_parameters_callback(self._parameters_changed)

    @property
    def ros_time_is_active(self) -> bool:
        """True while the clocks follow `/clock`."""
        return self._active

    @ros_time_is_active.setter
    def ros_time_is_active(self, enabled: bool) -> None:
        self._active = enabled
        for clock in self._clocks:
            clock._set_ros_time_is_active(enabled)
        if enabled and self._subscription is None:
            self._subscription = self._node.create_subscription(
                ClockMsg,
                CLOCK_TOPIC,
                self._clock_callback,
                QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT),
                callback_group=self._group,
            )
        elif not enabled and self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
            self._subscription = None

    def attach_clock(self, clock: ROSClock) -> None:
        """Set a clock too.

        Raises:
            ValueError: no ROS clock.
        """
        if not isinstance(clock, ROSClock):
            raise ValueError("Only clocks with type ROS_TIME can be attached.")
        clock.set_ros_time_override(self._last)
        clock._set_ros_time_is_active(self._active)
        self._clocks.append(clock)

    def _check_parameters(self, parameters: list[Parameter]) -> Any:
        wrong = [p for p in parameters if p.name == USE_SIM_TIME_NAME and p.type_ is not Parameter.Type.BOOL]
        return SetParametersResult(
            successful=not wrong, reason=f"{USE_SIM_TIME_NAME} must be a bool" if wrong else ""
        )

    def _parameters_changed(self, parameters: list[Parameter]) -> None:
        for parameter in parameters:
            if parameter.name == USE_SIM_TIME_NAME:
                self.ros_time_is_active = parameter.value

    def _clock_callback(self, message: Any) -> None:
        self._last = Time.from_msg(message.clock)
        for clock in self._clocks:
            clock.set_ros_time_override(self._last)
