"""What the nodes of a deployment take in, as the graph says it, and ways to send it: topics, services, goals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from faults_member import LATCHED, Member
from geometry_msgs.msg import PoseStamped
from lifecycle_msgs.srv import GetState
from openral.action import ExecuteSkill
from openral.msg import ControlStatus
from openral.srv import ResetScene
from rclpy.action import ActionClient
from rosidl_runtime_py.utilities import get_message, get_service
from system_stack import Stack, wait_for

ANSWER_S = 30.0
"""[s] that an answer may take on a busy machine; a node that hangs takes longer."""
STRANGE = 9.0
"""[m] at least two coordinates of each pose that we send."""
HIDDEN = "/_action/"
COMMON = ("rcl_interfaces/", "type_description_interfaces/")
"""Packages whose services rclpy itself answers."""


@dataclass(frozen=True)
class Topic:
    """A topic that nodes of the deployment hear."""

    name: str
    kind: Any
    nodes: tuple[str, ...]
    """Full names of those that do."""


@dataclass(frozen=True)
class Service:
    """A service that a node of the deployment offers."""

    name: str
    kind: Any
    node: str
    is_of_rclpy: bool
    """Every node has it, and rclpy answers it."""


class Outsider(Member):
    """Sends anything to anybody, and watches the arm meanwhile; what it sent itself it does not believe."""

    def __init__(self, stack: Stack) -> None:
        super().__init__(stack, "outsider")
        self.true: Any = None
        """The newest ControlStatus of the bridge itself."""
        self.positions: list[tuple[float, float, float]] = []
        """[m] of the hand, from the bridge itself."""
        self._goals: dict[str, ActionClient] = {}
        self.node.create_subscription(PoseStamped, "/openral/ee_pose", self._on_pose, 100)

    # -- what there is -----------------------------------------------------------------------------

    def nodes(self) -> tuple[str, ...]:
        """Full names of the deployment's own nodes."""
        found = self.node.get_node_names_and_namespaces()
        ours = ("member", "outsider", "standin", "operator")
        return tuple(
            sorted(
                f"{space.rstrip('/')}/{name}"
                for name, space in found
                if space.startswith("/openral") and name not in ours and not name.startswith("_")
            )
        )

    def topics(self) -> list[Topic]:
        """What the deployment's nodes subscribe to, by name."""
        heard: dict[tuple[str, str], set[str]] = {}
        for node in self.nodes():
            space, _, name = node.rpartition("/")
            for topic, kinds in self.node.get_subscriber_names_and_types_by_node(name, space):
                if HIDDEN not in topic:
                    heard.setdefault((topic, kinds[0]), set()).add(node)
        return [
            Topic(name, get_message(kind), tuple(sorted(who))) for (name, kind), who in sorted(heard.items())
        ]

    def services(self) -> list[Service]:
        """What the deployment's nodes offer, by name."""
        found = []
        for node in self.nodes():
            space, _, name = node.rpartition("/")
            for service, kinds in self.node.get_service_names_and_types_by_node(name, space):
                if HIDDEN not in service:
                    is_common = kinds[0].startswith(COMMON)
                    found.append(Service(service, get_service(kinds[0]), node, is_common))
        return sorted(found, key=lambda service: service.name)

    # -- sending -----------------------------------------------------------------------------------

    def answers(self, node: str) -> bool:
        """Whether a node answers."""
        answer, _ = self.call(GetState, f"{node}/get_state", GetState.Request(), ANSWER_S)
        return bool(answer.current_state.label)

    def publisher(self, topic: Topic) -> Any:
        """Return a publisher that every subscription of a topic accepts, known to all of them."""
        publisher = self.node.create_publisher(topic.kind, topic.name, LATCHED)
        wait_for(
            lambda: publisher.get_subscription_count() >= len(topic.nodes), f"subscriptions of {topic.name}"
        )
        return publisher

    def goal(self, action: str, goal: ExecuteSkill.Goal) -> int | None:
        """Send a goal, cancel it when it is accepted, and return its outcome; None: it was not accepted."""
        if action not in self._goals:
            self._goals[action] = ActionClient(self.node, ExecuteSkill, action)
        client = self._goals[action]
        wait_for(client.server_is_ready, action)
        handle = self._result(client.send_goal_async(goal), "an answer to a goal")
        if not handle.accepted:
            return None
        result = handle.get_result_async()
        self._result(handle.cancel_goal_async(), "an answer to a cancel request")
        return int(self._result(result, "the result of a goal").result.outcome)

    def reset(self) -> None:
        """Put the world into the scene's own initial state."""
        answer, _ = self.call(ResetScene, "/openral/sim/reset", ResetScene.Request(seed=-1))
        assert answer.ok, answer.message

    # -- watching ----------------------------------------------------------------------------------

    def moved_m(self) -> float:
        """Return how far the hand has moved along one axis since `positions` was cleared [m]."""
        wait_for(lambda: len(self.positions) > 5, "poses")
        return float(np.ptp(np.array(self.positions), axis=0).max())

    def until_status(self) -> Any:
        """Wait for the next status of the bridge and return it."""
        before = self.true
        wait_for(lambda: self.true is not before, "a status of the bridge")
        return self.true

    @staticmethod
    def _result(future: Any, what: str) -> Any:
        wait_for(partial(future.done), what, ANSWER_S)
        return future.result()

    def _on_status(self, message: Any) -> None:
        if "outsider" not in (message.skill, message.mode):
            self.true = message

    def _on_pose(self, message: Any) -> None:
        point = message.pose.position
        if (point.x, point.y, point.z).count(STRANGE) < 2:
            self.positions.append((point.x, point.y, point.z))


def base(kind: Any) -> Any:
    """Return the message into which the cases go: nothing that moves the arm, and marked as ours where we listen."""
    message = kind()
    if kind is ControlStatus:
        message.skill = message.mode = "outsider"
    if kind is PoseStamped:
        point = message.pose.position
        point.x = point.y = point.z = STRANGE
    for name, text in (
        ("text", "what do you see"),
        ("instruction", "open the drawer"),
        ("name", "tests/outsider"),
    ):
        if isinstance(getattr(message, name, None), str):
            setattr(message, name, text)
    for name, field_kind in message.get_fields_and_field_types().items():
        if field_kind == "sequence<rcl_interfaces/Parameter>":
            setattr(message, name, [get_message("rcl_interfaces/msg/Parameter")(name="no_such_parameter")])
    if hasattr(message, "transition"):
        message.transition.id = 99
    return message


def refused(response: Any) -> bool | None:
    """Whether a response says that nothing was done; None: it has no field for that."""
    results = getattr(response, "results", None) or [getattr(response, "result", response)]
    flags = [name for name in ("ok", "success", "successful") if hasattr(results[0], name)]
    return not any(getattr(result, flags[0]) for result in results) if flags else None
