"""The node `fleet_<pid>`: finds the deployments of a domain, hears what each says, and stops them."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import rclpy
from openral.msg import ControlStatus, Mission, SkillInfo
from rclpy.node import Node
from rclpy.qos import QoSDurabilityPolicy, QoSProfile
from rclpy.signals import SignalHandlerOptions
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from openral_console.fleet.robots import StopAnswer
from openral_console.live.deployment import LiveDeployment
from openral_console.ros.convert import control_of, mission_of, skill_of
from openral_core.guarded import GuardedCallbacks

SPIN_S = 0.02
"""[s] that one look at the graph waits for messages."""
ANSWER_S = 3.0
"""[s] that a bridge has for its answer to a stop."""
MAX_ROBOTS = 256
"""Deployments that are listened to."""
MAX_SKILLS = 64
"""That are shown of a deployment."""
_STOP, _TRIGGER = "/estop", "std_srvs/srv/Trigger"
"""A deployment is where a service of this name and type is: its bridge keeps it as long as it lives."""


def _latched(depth: int) -> QoSProfile:
    return QoSProfile(depth=depth, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)


class FleetNode(GuardedCallbacks, Node):
    """Looks, and calls the emergency stop. Used from one thread, which spins it."""

    def __init__(self) -> None:
        super().__init__(f"fleet_{os.getpid()}")
        self._robots: dict[str, LiveDeployment] = {}

    def look(self, search_s: float) -> dict[str, LiveDeployment]:
        """Return what is known of each deployment, by namespace, after having listened for `search_s` [s] wall time."""
        end = time.monotonic() + search_s
        while time.monotonic() < end:
            for namespace in self._found():
                self._listen(namespace)
            rclpy.spin_once(self, timeout_sec=SPIN_S)
        return dict(self._robots)

    def stop(self, namespaces: Sequence[str], search_s: float) -> list[StopAnswer]:
        """Latch the emergency stop of deployments, each as soon as it is found.

        Args:
            namespaces: whose; empty: all that are found.
            search_s: [s] wall time to look for them. Those that were named are waited for no longer than they need.
        """
        begun = time.monotonic()
        calls = {namespace: _StopCall(self, namespace) for namespace in namespaces}
        while True:
            if not namespaces:
                for namespace in self._found():
                    if namespace not in calls:
                        calls[namespace] = _StopCall(self, namespace)
            rclpy.spin_once(self, timeout_sec=SPIN_S)
            now = time.monotonic()
            searching = now - begun < search_s
            open_ = [call for call in calls.values() if not call.look(now, searching=searching)]
            if not open_ and (namespaces or not searching):
                return [calls[namespace].answer for namespace in sorted(calls)]

    def _found(self) -> list[str]:
        services = self.get_service_names_and_types()
        found = [
            name.removesuffix(_STOP) for name, kinds in services if name.endswith(_STOP) and _TRIGGER in kinds
        ]
        return [name for name in found if name][:MAX_ROBOTS]

    def _listen(self, namespace: str) -> None:
        if namespace in self._robots:
            return
        robot = self._robots[namespace] = LiveDeployment()
        for kind, name, take, qos in (
            (ControlStatus, "control_status", _on_status, 10),
            (Mission, "mission", _on_mission, _latched(1)),
            (SkillInfo, "skills", _on_skill, _latched(MAX_SKILLS)),
            (Bool, "estop_state", _on_estop, _latched(1)),
        ):
            self.create_subscription(kind, f"{namespace}/{name}", partial(take, robot), qos)


class _StopCall:
    """The call of one emergency stop."""

    def __init__(self, node: Node, namespace: str) -> None:
        self._client = node.create_client(Trigger, f"{namespace}{_STOP}")
        self._future: Any = None
        self._sent_s = 0.0
        self._answered = False
        self.answer = StopAnswer(namespace, "no bridge was found there", math.nan)

    def look(self, now_s: float, *, searching: bool) -> bool:
        """Call the service once it is there; return whether it has answered, or is not waited for any longer."""
        if self._answered:
            return True
        if self._future is None:
            if not self._client.service_is_ready():
                return not searching
            self._future, self._sent_s = self._client.call_async(Trigger.Request()), now_s
        waited_s, name = now_s - self._sent_s, self.answer.namespace
        if self._future.done():
            said = self._future.result()
            fault = "" if said is not None and said.success else f"refused: {getattr(said, 'message', '')}"
            self.answer, self._answered = StopAnswer(name, fault, waited_s), True
            return True
        self.answer = StopAnswer(name, f"its bridge did not answer within {ANSWER_S:.0f} s", math.nan)
        return waited_s > ANSWER_S


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
    """A node that is there as long as the block lasts."""
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    node = FleetNode()
    try:
        yield node
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
