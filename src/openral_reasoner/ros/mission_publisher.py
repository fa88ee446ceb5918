"""Publishes the mission as it stands, and each step of its log."""

from __future__ import annotations

from openral.msg import Mission, MissionStep
from rclpy.node import Node

from openral_core.ros.delivery import wait_until_delivered
from openral_core.ros.qos import LATCHED, MISSION_LOG
from openral_reasoner.mission.mission import LogEntry
from openral_reasoner.mission.mission import Mission as HeldMission
from openral_reasoner.ros.messages import message_of, step_of


class MissionPublisher:
    """Publishes `mission` and `mission_log`."""

    def __init__(self, node: Node) -> None:
        """Make both publishers."""
        self._node = node
        self._mission = node.create_publisher(Mission, "mission", LATCHED)
        self._steps = node.create_publisher(MissionStep, "mission_log", MISSION_LOG)

    def tell(self, mission: HeldMission) -> None:
        """Publish a mission as it stands now."""
        self._mission.publish(message_of(mission, self._node.get_clock().now().to_msg()))

    def step(self, entry: LogEntry) -> None:
        """Publish a step of the mission log."""
        self._steps.publish(step_of(entry))

    def wait_until_delivered(self) -> None:
        """Return when every subscriber has received the newest mission, or after `DELIVERY_S`."""
        wait_until_delivered(self._mission)

    def close(self) -> None:
        """Destroy both publishers."""
        for publisher in (self._mission, self._steps):
            self._node.destroy_publisher(publisher)
