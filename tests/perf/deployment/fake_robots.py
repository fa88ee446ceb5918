"""Robots without an arm: each has the nodes and the endpoints of a real deployment, says its state, and can be stopped.

python fake_robots.py describe /namespace > graph.json
python fake_robots.py run graph.json FIRST COUNT
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from typing import Any

import rclpy
from openral.msg import ControlStatus, Mission
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

NAME, BRIDGE = "describe", "sim_bridge"
SETTLED_S = 5.0
STATUS_HZ = 5.0
"""[Hz] at which a bridge says its status in a deployment at 80 Hz."""
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
SAID = {"control_status": (ControlStatus, 10), "mission": (Mission, LATCHED), "estop_state": (Bool, LATCHED)}
"""Topics on which a robot says something, with their types and quality of service."""
KINDS = ("publishers", "subscriptions", "services", "clients")


def endpoints_of(node: Node, name: str, namespace: str) -> dict[str, list[list[str]]]:
    """Return name and type of each endpoint of a node, by KINDS."""
    found = (
        node.get_publisher_names_and_types_by_node(name, namespace),
        node.get_subscriber_names_and_types_by_node(name, namespace),
        node.get_service_names_and_types_by_node(name, namespace),
        node.get_client_names_and_types_by_node(name, namespace),
    )
    return {kind: [[each, types[0]] for each, types in of] for kind, of in zip(KINDS, found, strict=True)}


def describe(namespace: str) -> list[dict[str, Any]]:
    """Return the nodes of the deployment in a namespace, which becomes `{}` in all names."""
    node = rclpy.create_node(NAME)
    end = time.monotonic() + SETTLED_S
    while time.monotonic() < end:
        rclpy.spin_once(node, timeout_sec=0.1)
    return [
        {
            "name": name,
            "namespace": space.replace(namespace, "{}", 1),
            **{
                kind: [[each.replace(namespace, "{}", 1), said] for each, said in found]
                for kind, found in endpoints_of(node, name, space).items()
            },
        }
        for name, space in node.get_node_names_and_namespaces()
        if space == namespace or space.startswith(f"{namespace}/")
    ]


def interface(name: str) -> Any:
    """Return the class of a type of the graph; those of an action's topics and services are its parts."""
    package, kind, word = name.split("/")
    module = importlib.import_module(f"{package}.{kind}")
    if kind != "action":
        return getattr(module, word)
    action, _, part = word.rpartition("_")
    parts = getattr(module, action).Impl
    known = {
        "SendGoal": "SendGoalService",
        "GetResult": "GetResultService",
        "FeedbackMessage": "FeedbackMessage",
    }
    return getattr(parts, known[part])


class FakeRobot:
    """The nodes of one deployment."""

    def __init__(self, graph: list[dict[str, Any]], namespace: str) -> None:
        self._said: dict[str, Any] = {}
        self.nodes: list[Node] = []
        for entry in graph:
            node = rclpy.create_node(entry["name"], namespace=entry["namespace"].format(namespace))
            self.nodes.append(node)
            if node.get_name() == BRIDGE:
                self.bridge = node
            own = endpoints_of(node, node.get_name(), node.get_namespace())
            for kind in KINDS:
                there = {name for name, _ in own[kind]}
                for name, said in entry[kind]:
                    if (name := name.format(namespace)) not in there:
                        self._add(node, kind, name, interface(said), namespace)

    def _add(self, node: Node, kind: str, name: str, said: Any, namespace: str) -> None:
        if kind == "publishers":
            known = SAID.get(name.removeprefix(f"{namespace}/"))
            publisher = node.create_publisher(said, name, known[1] if known else 10)
            if known:
                self._said[name.rpartition("/")[2]] = publisher
                publisher.publish(said())
        elif kind == "subscriptions":
            node.create_subscription(said, name, lambda message: None, 10)
        elif kind == "clients":
            node.create_client(said, name)
        elif name == f"{namespace}/estop":
            node.create_service(said, name, self._stop)
        else:
            node.create_service(said, name, lambda request, response: response)

    def _stop(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._said["estop_state"].publish(Bool(data=True))
        response.success = True
        return response

    def say(self) -> None:
        """Say the status once."""
        self._said["control_status"].publish(ControlStatus())


def run(graph: list[dict[str, Any]], first: int, count: int) -> None:
    """Be `count` robots until the process is ended."""
    executor = rclpy.executors.SingleThreadedExecutor()
    for number in range(count):
        robot = FakeRobot(graph, f"/r{first + number}")
        executor.add_node(robot.bridge)  # the others are only seen
        robot.bridge.create_timer(1 / STATUS_HZ, robot.say)
    sys.stdout.write(json.dumps({"ready": count}) + "\n")
    sys.stdout.flush()
    executor.spin()


def main() -> None:
    rclpy.init(args=[])
    if sys.argv[1] == "describe":
        sys.stdout.write(json.dumps(describe(sys.argv[2])))
        return
    with open(sys.argv[2], encoding="utf-8") as file:
        run(json.load(file), int(sys.argv[3]), int(sys.argv[4]))


if __name__ == "__main__":
    main()
