"""Sends chunks and announces itself as policy nodes do, for tests and for trying a bridge by hand."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from openral.msg import ActionChunk, SkillInfo
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node

from openral_core.graph.namespaces import graph_name
from openral_core.ros.qos import LATCHED, STATE
from openral_policy_nodes.ros.hosting_node import HEARTBEAT_S


class FakePolicyNode:
    """Publishes `skills` and `action_chunk` in the namespace of a node, which must be spun."""

    def __init__(self, node: Node, skill: str = "tests/by-hand", horizon_s: float = 0.2) -> None:
        """Announce the skill, active and without a goal.

        Args:
            node: owner of the publishers.
            skill: manifest name.
            horizon_s: [s] announced length of the longest chunk.
        """
        self._node, self.skill, self.horizon_s = node, skill, horizon_s
        space = node.get_namespace()
        self._infos = node.create_publisher(SkillInfo, graph_name(space, "skills"), LATCHED)
        self.chunks = node.create_publisher(ActionChunk, graph_name(space, "action_chunk"), STATE)
        self.goal_id = ""
        self.active = True
        node.create_timer(HEARTBEAT_S, self.announce, clock=Clock(clock_type=ClockType.STEADY_TIME))
        self.announce()

    def begin(self, goal_id: str = "") -> str:
        """Announce a given goal, or a new one, as running and return its hex UUID; the previous one ends."""
        self.goal_id = goal_id or uuid4().hex
        self.announce()
        return self.goal_id

    def end(self) -> None:
        """Announce that no goal is running."""
        self.goal_id = ""
        self.announce()

    def announce(self) -> None:
        """Publish the skill with its running goal, which a timer also does every HEARTBEAT_S seconds."""
        message = SkillInfo(
            name=self.skill,
            slug=self.skill.rpartition("/")[2].replace("-", "_"),
            kind="vla",
            node=self._node.get_fully_qualified_name(),
            state="active" if self.active else "inactive",
            active=self.active,
            horizon_s=self.horizon_s,
            goal_id=self.goal_id,
        )
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._infos.publish(message)

    def send(self, stamp: Any, **fields: Any) -> None:
        """Publish a chunk of the running goal.

        Args:
            stamp: of the observation that it answers, as builtin_interfaces/Time.
            fields: of ActionChunk; they may replace `goal_id` and `skill`.
        """
        chunk = ActionChunk(**{"goal_id": self.goal_id, "skill": self.skill, **fields})
        chunk.header.stamp = stamp
        self.chunks.publish(chunk)
