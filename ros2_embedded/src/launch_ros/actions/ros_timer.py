"""Actions after a while of ROS time."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from launch import LaunchContext
from launch.actions import TimerAction
from launch.frontend import Entity, Parser, expose_action

from ..ros_adapters import get_ros_node


@expose_action("ros_timer")
class ROSTimer(TimerAction):
    """A `TimerAction` whose period is measured by the clock of the launch's node.

    That is /clock where the parameter `use_sim_time` is set by `SetUseSimTime` or `SetParameter` before.
    """

    @classmethod
    def parse(cls, entity: Entity, parser: Parser) -> tuple[Any, dict[str, Any]]:
        """Return how to make the action of an element in markup."""
        _, kwargs = super().parse(entity, parser)
        return cls, kwargs

    async def wait_for_period(self, context: LaunchContext, period: float) -> None:
        """Wait until ROS time has gone on by the period [s]."""
        from rclpy.clock import JumpThreshold
        from rclpy.duration import Duration
        from rclpy.parameter import Parameter

        node = get_ros_node(context)
        for item in context.launch_configurations.get("global_params", []):
            if isinstance(item, tuple) and item[0] == "use_sim_time":
                node.set_parameters([Parameter("use_sim_time", value=bool(item[1]))])
        loop, clock, changed = context.running_loop(), node.get_clock(), asyncio.Event()
        until = clock.now() + Duration(seconds=period)
        tick = Duration(nanoseconds=1)
        threshold = JumpThreshold(min_forward=tick, min_backward=-tick)

        def jumped(_: object) -> None:
            loop.call_soon_threadsafe(changed.set)

        with clock.create_jump_callback(threshold, post_callback=jumped):
            while clock.now() < until:
                left = (until - clock.now()).nanoseconds / 1e9
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(changed.wait(), left if clock.follows_wall else None)
                changed.clear()
