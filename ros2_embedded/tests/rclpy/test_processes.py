"""Two processes: topics, latched topics, services, actions, parameters, managed nodes, death."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from action_msgs.msg import GoalStatus
from example_interfaces.action import Fibonacci
from example_interfaces.srv import AddTwoInts
from lifecycle_msgs.msg import Transition, TransitionEvent
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.srv import GetParameters, ListParameters, SetParameters
from std_msgs.msg import String

from rclpy.action import ActionClient
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile

Start = Callable[..., subprocess.Popen[str]]
Spin = Callable[..., None]
LATCHED = QoSProfile(depth=3, durability=DurabilityPolicy.TRANSIENT_LOCAL)
PATIENCE_S = 90.0


def test_topics(node: Node, spin: Spin, peer: Start) -> None:
    peer("echo")
    heard: list[tuple[str, int]] = []
    node.create_subscription(
        String, "reply", lambda m, info: heard.append((m.data, info["source_timestamp"])), 10
    )
    publisher = node.create_publisher(String, "say", 10)
    spin(lambda: publisher.get_subscription_count() == 1 and node.count_publishers("/reply") == 1)
    before = node.get_clock().now().nanoseconds
    publisher.publish(String(data="hello"))
    spin(lambda: heard)
    assert heard[0][0] == "hello!"
    assert before <= heard[0][1] <= node.get_clock().now().nanoseconds


def test_late_subscription_gets_the_latched_messages(node: Node, spin: Spin, peer: Start) -> None:
    peer("latched")
    heard: list[str] = []
    node.create_subscription(String, "/latched", lambda m: heard.append(m.data), LATCHED)
    spin(lambda: len(heard) == 3)
    assert heard == ["2", "3", "4"]


def test_service(node: Node, spin: Spin, peer: Start) -> None:
    peer("server")
    client = node.create_client(AddTwoInts, "add")
    assert client.wait_for_service(PATIENCE_S)
    futures = [client.call_async(AddTwoInts.Request(a=index, b=1)) for index in range(20)]
    spin(lambda: all(future.done() for future in futures))
    assert [future.result().sum for future in futures] == list(range(1, 21))


def test_action_succeeds_with_feedback(node: Node, threaded: Executor, peer: Start) -> None:
    peer("server")
    client = ActionClient(node, Fibonacci, "fibonacci")
    assert client.wait_for_server(PATIENCE_S)
    feedback: list[int] = []
    answer = client.send_goal(
        Fibonacci.Goal(order=5), feedback_callback=lambda m: feedback.append(len(m.feedback.sequence))
    )
    assert answer.status == GoalStatus.STATUS_SUCCEEDED
    assert list(answer.result.sequence) == [0, 1, 1, 2, 3, 5, 8]
    assert feedback == [3, 4, 5, 6, 7]


def test_action_is_canceled(node: Node, spin: Spin, peer: Start) -> None:
    peer("server")
    client = ActionClient(node, Fibonacci, "fibonacci")
    assert client.wait_for_server(PATIENCE_S)
    feedback: list[Any] = []
    sent = client.send_goal_async(Fibonacci.Goal(order=10_000), feedback_callback=feedback.append)
    spin(lambda: sent.done() and feedback)
    handle = sent.result()
    assert handle is not None
    canceled = handle.cancel_goal_async()
    spin(canceled.done)
    assert len(canceled.result().goals_canceling) == 1
    result = handle.get_result_async()
    spin(result.done)
    assert result.result().status == GoalStatus.STATUS_CANCELED
    spin(lambda: handle.status == GoalStatus.STATUS_CANCELED)


def test_action_is_rejected(node: Node, threaded: Executor, peer: Start) -> None:
    peer("server")
    client = ActionClient(node, Fibonacci, "fibonacci")
    assert client.wait_for_server(PATIENCE_S)
    assert client.send_goal(Fibonacci.Goal(order=-1)) is None


def test_parameters_of_another_node(node: Node, threaded: Executor, peer: Start) -> None:
    peer("parameters", "--ros-args", "-p", "speed:=2.5")
    base = "/other/peer"
    get = node.create_client(GetParameters, f"{base}/get_parameters")
    set_ = node.create_client(SetParameters, f"{base}/set_parameters")
    list_ = node.create_client(ListParameters, f"{base}/list_parameters")
    assert all(client.wait_for_service(PATIENCE_S) for client in (get, set_, list_))
    names = list_.call(ListParameters.Request(), PATIENCE_S).result.names
    assert {"speed", "name", "use_sim_time"} <= set(names)
    values = get.call(GetParameters.Request(names=["speed", "name"]), PATIENCE_S).values
    assert (values[0].double_value, values[1].string_value) == (2.5, "x")
    changes = [Parameter("speed", value=3.5), Parameter("name", value=3), Parameter("nothing", value=1)]
    request = SetParameters.Request(parameters=[change.to_parameter_msg() for change in changes])
    results = set_.call(request, PATIENCE_S).results
    assert [result.successful for result in results] == [True, False, False]
    assert get.call(GetParameters.Request(names=["speed"]), PATIENCE_S).values[0].double_value == 3.5


def test_managed_node(node: Node, threaded: Executor, peer: Start) -> None:
    peer("lifecycle")
    change = node.create_client(ChangeState, "/managed/change_state")
    state = node.create_client(GetState, "/managed/get_state")
    assert change.wait_for_service(PATIENCE_S)
    assert state.wait_for_service(PATIENCE_S)
    events: list[tuple[str, str]] = []
    topic = "/managed/transition_event"
    node.create_subscription(
        TransitionEvent, topic, lambda m: events.append((m.start_state.label, m.goal_state.label)), 10
    )

    def go(number: int) -> tuple[bool, str]:
        request = ChangeState.Request(transition=Transition(id=number))
        done = change.call(request, PATIENCE_S).success
        return done, state.call(GetState.Request(), PATIENCE_S).current_state.label

    assert go(Transition.TRANSITION_ACTIVATE) == (False, "unconfigured")
    assert go(Transition.TRANSITION_CONFIGURE) == (True, "inactive")
    assert go(Transition.TRANSITION_ACTIVATE) == (True, "active")
    assert go(Transition.TRANSITION_CLEANUP) == (False, "active")
    assert go(Transition.TRANSITION_DEACTIVATE) == (True, "inactive")
    assert go(Transition.TRANSITION_CLEANUP) == (True, "unconfigured")
    assert go(Transition.TRANSITION_UNCONFIGURED_SHUTDOWN) == (True, "finalized")
    assert ("configuring", "inactive") in events


def test_killed_process_leaves_the_graph(node: Node, spin: Spin, peer: Start) -> None:
    process = peer("echo")
    spin(lambda: "/other/peer" in node.get_fully_qualified_node_names())
    process.send_signal(signal.SIGKILL)
    spin(lambda: "/other/peer" not in node.get_fully_qualified_node_names())
    assert node.count_publishers("/reply") == 0


@pytest.mark.parametrize(
    ("number", "text"),
    [(signal.SIGINT, "KeyboardInterrupt"), (signal.SIGTERM, "shutdown")],
)
def test_signals_end_spin(peer: Start, number: signal.Signals, text: str) -> None:
    process = peer("echo")
    process.send_signal(number)
    output, _ = process.communicate(timeout=PATIENCE_S)
    assert output == f"{text}\n"
    assert process.returncode == 0


def test_process_that_ends_without_shutdown_does_not_hang(peer: Start) -> None:
    process = peer("crash")
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1
    assert "ended without shutdown" in errors
