"""Two ordinary ROS 2 programs that test each other, on whichever runtime runs them: `peer.py serve` and `peer.py ask`.

`serve` prints `ready` and stays; `ask` prints one line of JSON with what failed, by name of the check.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

import rclpy
from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient, ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.parameter_client import AsyncParameterClient
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String
from test_msgs.action import Fibonacci
from test_msgs.srv import Arrays as ArraysService
from test_msgs.srv import BasicTypes as BasicTypesService

PATIENCE_S = 60.0
RELIABLE = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
LATCHED = QoSProfile(depth=3, durability=DurabilityPolicy.TRANSIENT_LOCAL)
MESSAGES = (
    "Arrays",
    "BasicTypes",
    "BoundedPlainSequences",
    "BoundedSequences",
    "Builtins",
    "Constants",
    "Defaults",
    "Empty",
    "MultiNested",
    "Nested",
    "Strings",
    "UnboundedSequences",
    "WStrings",
)
"""All message types of test_msgs."""
SERVICES = {"basic": BasicTypesService, "arrays": ArraysService}
_INTEGER = re.compile(r"(u?)int(\d+)")
_TEXT = "text äß"
_WIDE = "Grüße 東京"


def filled(kind: Any, seed: int = 1) -> Any:
    """A message of a class whose every field has a value, the same on both sides."""
    return kind(
        **{
            name: value(text, seed + place)
            for place, (name, text) in enumerate(kind.get_fields_and_field_types().items())
        }
    )


def value(text: str, seed: int) -> Any:
    """A value of a field type as `get_fields_and_field_types` writes it."""
    if many := re.fullmatch(r"sequence<(.+?)(?:, (\d+))?>", text) or re.fullmatch(r"(.+)\[(\d+)\]", text):
        count = int(many[2]) if text.endswith("]") else min(3, int(many[2] or 3))
        return [value(many[1], seed + place) for place in range(count)]
    if integer := _INTEGER.fullmatch(text):
        bits = int(integer[2])
        return 2**bits - seed if integer[1] else seed - 2 ** (bits - 1)
    if bounded := re.fullmatch(r"w?string<(\d+)>", text):
        return f"{seed} bounded"[: int(bounded[1])]
    if "/" in text:
        package, name = text.split("/")
        return filled(getattr(importlib.import_module(f"{package}.msg"), name), seed)
    return {
        "boolean": seed % 2 == 1,
        "octet": bytes([seed % 256]),
        "float": seed + 0.5,
        "double": -seed - 0.25,
        "string": f"{_TEXT} {seed}",
        "wstring": f"{_WIDE} {seed}",
    }[text]


def message_class(name: str) -> Any:
    """Of test_msgs."""
    return getattr(importlib.import_module("test_msgs.msg"), name)


class Server(Node):
    """Sends back what arrived as it should, latches two texts, answers services, counts, and has a parameter."""

    def __init__(self) -> None:
        super().__init__("server", namespace="/peer")
        self.declare_parameter("gain", 1.5)
        for name in MESSAGES:
            kind = message_class(name)
            back = self.create_publisher(kind, f"{name}/back", RELIABLE)
            self.create_subscription(
                kind, name, lambda message, back=back: self._echo(message, back), RELIABLE
            )
        for name, kind in SERVICES.items():
            self.create_service(kind, name, lambda request, response: self._answer(request, response))
        self._latched = self.create_publisher(String, "latched", LATCHED)
        for number in range(5):  # of which the last three stay
            self._latched.publish(String(data=f"latched {number}"))
        self._counter = ActionServer(
            self,
            Fibonacci,
            "count",
            self._count,
            cancel_callback=lambda goal: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup(),
        )

    def _echo(self, message: Any, back: Any) -> None:
        if message == filled(type(message)):
            back.publish(message)
        else:
            self.get_logger().error(f"not as it was sent: {message}")

    def _answer(self, request: Any, response: Any) -> Any:
        return filled(type(response), 5) if request == filled(type(request)) else response

    def _count(self, goal: Any) -> Any:
        """Order n > 0 succeeds, < 0 is aborted, 0 counts until it is canceled."""
        order, sequence = goal.request.order, [0]
        while not goal.is_cancel_requested and (order == 0 or len(sequence) <= abs(order)):
            sequence.append(len(sequence))
            goal.publish_feedback(Fibonacci.Feedback(sequence=sequence))
            time.sleep(0.02)
        if goal.is_cancel_requested:
            goal.canceled()
        elif order > 0:
            goal.succeed()
        else:
            goal.abort()
        return Fibonacci.Result(sequence=sequence)


class Client(Node):
    """Tries all that the server has."""

    def __init__(self, executor: Any) -> None:
        super().__init__("client", namespace="/peer")
        self._executor = executor
        executor.add_node(self)

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Serve callbacks until a condition holds, or raise TimeoutError."""
        end = time.monotonic() + PATIENCE_S
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError(what)
            self._executor.spin_once(timeout_sec=0.05)

    def result(self, future: Any, what: str) -> Any:
        """What a future gives."""
        self.until(future.done, what)
        return future.result()

    def check_messages(self) -> None:
        """Every type of test_msgs there and back."""
        for name in MESSAGES:
            kind, came = message_class(name), list[Any]()
            publisher = self.create_publisher(kind, name, RELIABLE)
            subscription = self.create_subscription(kind, f"{name}/back", came.append, RELIABLE)
            self.until(publisher.get_subscription_count, f"the subscription of {name}")
            self.until(lambda s=subscription: s.get_publisher_count(), f"the publisher of {name}")
            sent = filled(kind)
            # Counts say that they have found each other, not that both ways are open already.
            self.until(
                lambda p=publisher, s=sent, c=came: (
                    c or p.publish(s) or self._executor.spin_once(timeout_sec=0.2)
                ),
                name,
            )
            assert came[0] == sent, f"{name}: {came[0]}"
            self.destroy_publisher(publisher)
            self.destroy_subscription(subscription)

    def check_latched(self) -> None:
        """Who comes late gets the newest three, in order."""
        came: list[str] = []
        self.create_subscription(String, "latched", lambda message: came.append(message.data), LATCHED)
        self.until(lambda: len(came) >= 3, f"three texts, not {came}")
        assert came == ["latched 2", "latched 3", "latched 4"], came

    def check_services(self) -> None:
        """A request arrives whole, and so does the answer."""
        for name, kind in SERVICES.items():
            client = self.create_client(kind, name)
            self.until(client.service_is_ready, name)
            answer = self.result(client.call_async(filled(kind.Request)), name)
            assert answer == filled(kind.Response, 5), answer

    def check_actions(self) -> None:
        """A goal that succeeds, one that is aborted and one that is canceled; feedback comes."""
        client = ActionClient(self, Fibonacci, "count")
        self.until(client.server_is_ready, "the action")
        for order, status in ((5, GoalStatus.STATUS_SUCCEEDED), (-5, GoalStatus.STATUS_ABORTED)):
            goal, feedback = self._send(client, order)
            ended = self.result(goal.get_result_async(), "the result")
            assert (ended.status, list(ended.result.sequence)) == (status, list(range(6))), ended
            assert feedback, "no feedback"
        goal, feedback = self._send(client, 0)
        self.until(lambda: feedback, "feedback")
        self.result(goal.cancel_goal_async(), "the answer to a cancellation")
        assert self.result(goal.get_result_async(), "the end").status == GoalStatus.STATUS_CANCELED

    def _send(self, client: Any, order: int) -> tuple[Any, list[Any]]:
        feedback: list[Any] = []
        goal = self.result(client.send_goal_async(Fibonacci.Goal(order=order), feedback.append), "the goal")
        assert goal.accepted
        return goal, feedback

    def check_parameters(self) -> None:
        """Read, written, and listed."""
        client = AsyncParameterClient(self, "/peer/server")
        self.until(client.services_are_ready, "the parameter services")
        assert self.result(client.get_parameters(["gain"]), "gain").values[0].double_value == 1.5
        changed = [Parameter("gain", Parameter.Type.DOUBLE, 2.5)]
        assert self.result(client.set_parameters(changed), "set").results[0].successful
        assert self.result(client.get_parameters(["gain"]), "gain").values[0].double_value == 2.5
        assert "gain" in self.result(client.list_parameters([], 0), "list").result.names

    def check_graph(self) -> None:
        """Names, types and QoS as the other side offers them."""
        self.until(lambda: ("server", "/peer") in self.get_node_names_and_namespaces(), "the node")
        self.until(lambda: self.get_publishers_info_by_topic("/peer/latched"), "the publisher")
        [info] = self.get_publishers_info_by_topic("/peer/latched")
        assert (info.node_name, info.node_namespace, info.topic_type) == (
            "server",
            "/peer",
            "std_msgs/msg/String",
        )
        assert info.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
        assert info.qos_profile.reliability == ReliabilityPolicy.RELIABLE
        services = dict(self.get_service_names_and_types_by_node("server", "/peer"))
        assert services["/peer/basic"] == ["test_msgs/srv/BasicTypes"], services

    def check_end(self) -> None:
        """Who is killed leaves the graph, sooner or later; the server is killed when `leave` is said."""
        self.until(lambda: "server" in self.get_node_names(), "the node")
        say("leave")
        self.until(lambda: "server" not in self.get_node_names(), "the end of the node")


def say(line: str) -> None:
    """Tell the test."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def serve() -> None:
    """Until the process is ended."""
    executor = MultiThreadedExecutor(4)
    executor.add_node(Server())
    say("ready")
    executor.spin()


def ask() -> None:
    """All checks, in the order in which they stand here."""
    client = Client(rclpy.executors.SingleThreadedExecutor())
    failed: dict[str, str] = {}
    for name in ("messages", "latched", "services", "actions", "parameters", "graph", "end"):
        try:
            getattr(client, f"check_{name}")()
        except Exception:  # noqa: BLE001  the others are told of as well
            failed[name] = traceback.format_exc()
    say(json.dumps(failed))
    client.destroy_node()


if __name__ == "__main__":
    rclpy.init()
    try:
        {"serve": serve, "ask": ask}[sys.argv[1]]()
    except (KeyboardInterrupt, ExternalShutdownException):
        say("interrupted")
    finally:
        rclpy.try_shutdown()
