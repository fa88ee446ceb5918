"""The node `fleet_<pid>`: finds the deployments of a domain, receives their topics, and stops them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import rclpy
from openral.msg import ControlStatus, Mission, SkillInfo
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from std_msgs.msg import Bool

from openral_console.live.deployment import LiveDeployment
from openral_console.live.views import StopAnswer
from openral_console.ros.convert import control_of, mission_of, skill_of
from openral_console.ros.fleet_stop import Search, see_bridges_only, stop_deployments
from openral_core.guarded_callbacks import GuardedCallbacks
from openral_core.ros.qos import LATCHED, MAX_SKILLS, SKILLS

SPIN_S = 0.02
"""[s] for which the node is spun between two queries of the graph."""


class FleetNode(GuardedCallbacks, Node):
    """Receives the topics of all deployments, and calls their emergency stops. Used from one thread, which spins it."""

    def __init__(self) -> None:
        super().__init__(f"fleet_{os.getpid()}")
        self._robots: dict[str, LiveDeployment] = {}

    def look(self, search_s: float) -> dict[str, LiveDeployment]:
        """Return the state of each deployment by namespace, after receiving for `search_s` [s] of wall time."""
        end, search = time.monotonic() + search_s, Search(self)
        while time.monotonic() < end:
            for namespace in search():
                self._listen(namespace)
            rclpy.spin_once(self, timeout_sec=SPIN_S)
        return dict(self._robots)

    def stop(self, namespaces: Sequence[str], search_s: float) -> list[StopAnswer]:
        """Latch the emergency stop of deployments, each as soon as it is found.

        Args:
            namespaces: of the deployments; empty: all that are found.
            search_s: [s] of wall time to search for them; with `namespaces` it ends when all of them have answered.
        """
        return stop_deployments(
            self, namespaces, search_s, partial(rclpy.spin_once, self, timeout_sec=SPIN_S)
        )

    def _listen(self, namespace: str) -> None:
        if namespace in self._robots:
            return
        robot = self._robots[namespace] = LiveDeployment()
        for kind, name, take, qos in (
            (ControlStatus, "control_status", _on_status, 10),
            (Mission, "mission", _on_mission, LATCHED),
            (SkillInfo, "skills", _on_skill, SKILLS),
            (Bool, "estop_state", _on_estop, LATCHED),
        ):
            self.create_subscription(kind, f"{namespace}/{name}", partial(take, robot), qos)


def _on_status(robot: LiveDeployment, message: Any) -> None:
    robot.control = control_of(message)


def _on_mission(robot: LiveDeployment, message: Any) -> None:
    robot.mission = mission_of(message)


def _on_skill(robot: LiveDeployment, message: Any) -> None:
    skill = skill_of(message)
    if skill.name in robot.skills or len(robot.skills) < MAX_SKILLS:
        robot.skills = {**robot.skills, skill.name: skill}


def _on_estop(robot: LiveDeployment, message: Any) -> None:
    robot.estopped = bool(message.data)


@contextmanager
def fleet() -> Iterator[FleetNode]:
    """Create the node for the duration of a block."""
    see_bridges_only(rclpy.get_default_context())
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    node = FleetNode()
    try:
        yield node
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
