"""The reward monitor with a service beside it that does nothing, in one process and one executor."""

from __future__ import annotations

import sys

import rclpy
from rclpy.executors import ExternalShutdownException
from std_srvs.srv import Trigger

from openral_reward_monitor.ros.monitor_node import RewardMonitorNode

BARE = "/openral/perception/bare"


def main() -> None:
    rclpy.init(args=sys.argv)
    node = RewardMonitorNode()
    node.create_service(Trigger, BARE, lambda request, response: response)
    node.trigger_configure()
    node.trigger_activate()
    try:
        rclpy.spin(node)
    except ExternalShutdownException:
        node.close()


if __name__ == "__main__":
    main()
