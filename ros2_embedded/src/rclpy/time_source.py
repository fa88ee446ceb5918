"""Feeds the clocks of a node from `/clock` while the parameter `use_sim_time` is true."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rosgraph_msgs.msg import Clock as ClockMsg

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.clock import Clock, ROSClock
from rclpy.clock_type import ClockType
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

    def __init__(self, *, node: Node | None = None) -> None:
        """Start without clocks, and attach to a node if there is one."""
        self._node: Node | None = None
        self._clocks: list[ROSClock] = []
        self._clock_sub: Subscription[Any] | None = None
        self._last = Time(clock_type=ClockType.ROS_TIME)
        self._group = MutuallyExclusiveCallbackGroup()
        self._active = False
        if node is not None:
            self.attach_node(node)

    def attach_node(self, node: Node) -> None:
        """Obey the `use_sim_time` of a node, declaring it if it is not yet, instead of another node's.

        Raises:
            TypeError: no node.
        """
        from rclpy.node import Node

        if not isinstance(node, Node):
            raise TypeError("Node must be of type rclpy.node.Node")
        if self._node is not None:
            self.detach_node()
        self._node = node
        if not node.has_parameter(USE_SIM_TIME_NAME):
            node.declare_parameter(
                USE_SIM_TIME_NAME,
                False,
                ParameterDescriptor(description="Follow /clock instead of system time."),
            )
        self.ros_time_is_active = bool(node.get_parameter(USE_SIM_TIME_NAME).value)
        node.add_on_set_parameters_callback(self._check_parameters)
        node.add_post_set_parameters_callback(self._parameters_changed)

    def detach_node(self) -> None:
        """Let the node go; the clocks stay as they are.

        Raises:
            RuntimeError: there is none.
        """
        node = self._node
        if node is None:
            raise RuntimeError("Unable to destroy previously created clock subscription")
        self._unsubscribe()
        node.remove_on_set_parameters_callback(self._check_parameters)
        node.remove_post_set_parameters_callback(self._parameters_changed)
        self._node = None

    def _get_node(self) -> Node | None:
        return self._node

    def _unsubscribe(self) -> None:
        if self._clock_sub is not None and self._node is not None:
            self._node.destroy_subscription(self._clock_sub)
        self._clock_sub = None

    @property
    def ros_time_is_active(self) -> bool:
        """True while the clocks follow `/clock`."""
        return self._active

    @ros_time_is_active.setter
    def ros_time_is_active(self, enabled: bool) -> None:
        self._active = enabled
        for clock in self._clocks:
            clock._set_ros_time_is_active(enabled)
        if self._node is None:
            return
        if enabled and self._clock_sub is None:
            self._clock_sub = self._node.create_subscription(
                ClockMsg,
                CLOCK_TOPIC,
                self._clock_callback,
                QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT),
                callback_group=self._group,
            )
        elif not enabled:
            self._unsubscribe()

    def attach_clock(self, clock: Clock) -> None:
        """Set a clock too.

        Raises:
            TypeError, ValueError: no clock, or no ROS clock.
        """
        if not isinstance(clock, Clock):
            raise TypeError("clock must be of type rclpy.clock.Clock")
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
        if message.clock.sec < 0:
            return  # no time that a clock can have, whoever published it
        self._last = Time.from_msg(message.clock)
        for clock in self._clocks:
            clock.set_ros_time_override(self._last)
