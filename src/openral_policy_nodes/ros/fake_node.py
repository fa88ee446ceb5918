"""A sender of chunks that announces itself as policy nodes do: for tests, and to try a bridge by hand."""

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
    """Speaks for a node on `skills` and `action_chunk` of its deployment; the node must be spun."""

    def __init__(self, node: Node, skill: str = "tests/by-hand", horizon_s: float = 0.2) -> None:
        """Announce the skill, active and without a goal.

        Args:
            node: in whose name it speaks.
            skill: manifest name.
            horizon_s: [s] longest chunk that it announces.
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
        """Hold a goal, a new one or a given one, and return its id; the goal before it ends."""
        self.goal_id = goal_id or uuid4().hex
        self.announce()
        return self.goal_id

    def end(self) -> None:
        """Hold no goal any more."""
        self.goal_id = ""
        self.announce()

    def announce(self) -> None:
        """Say what is held now; once a second it says so by itself."""
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
        """Send a chunk of the goal that is held; `fields` are the others of ActionChunk, and may replace these."""
        chunk = ActionChunk(**{"goal_id": self.goal_id, "skill": self.skill, **fields})
        chunk.header.stamp = stamp
        self.chunks.publish(chunk)
