"""Values that programs pass and rclpy takes: numbers of numpy, endless waits, one descriptor for several."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from example_interfaces.action import Fibonacci
from rcl_interfaces.msg import ParameterDescriptor
from std_msgs.msg import String
from std_srvs.srv import Trigger

import rclpy
from rclpy import Parameter
from rclpy.action import ActionClient, ActionServer
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.wait_for_message import wait_for_message

PATIENCE_S = 90.0
FOREVER = float("inf")


def test_periods_of_numpy(node: Node) -> None:
    assert node.create_timer(np.float32(0.5), lambda: None).timer_period_ns == 500_000_000
    assert node.create_timer(np.int64(2), lambda: None).timer_period_ns == 2_000_000_000
    assert node.create_rate(np.float32(4.0)) is not None
    for wrong in (None, "soon", [1.0]):
        with pytest.raises((TypeError, ValueError)):
            node.create_timer(wrong, lambda: None)  # type: ignore[arg-type]
        with pytest.raises((TypeError, ValueError)):
            node.create_rate(wrong)  # type: ignore[arg-type]


def test_waits_without_end(node: Node) -> None:
    client, action = node.create_client(Trigger, "late"), ActionClient(node, Fibonacci, "late_too")
    ready: list[bool] = []

    def wait() -> None:
        ready.append(client.wait_for_service(timeout_sec=FOREVER))
        ready.append(action.wait_for_server(timeout_sec=FOREVER))

    thread = threading.Thread(target=wait)
    thread.start()
    node.create_service(Trigger, "late", lambda request, response: response)
    ActionServer(node, Fibonacci, "late_too", lambda handle: Fibonacci.Result())
    thread.join(PATIENCE_S)
    assert ready == [True, True]


def test_a_call_without_end(node: Node, threaded: Executor) -> None:
    node.create_service(Trigger, "now", lambda request, response: response)
    client = node.create_client(Trigger, "now")
    assert client.wait_for_service()
    assert client.call(Trigger.Request(), timeout_sec=FOREVER) == Trigger.Response()
    assert node.create_client(Trigger, "nobody").call(Trigger.Request(), timeout_sec=-1) is None


def test_one_descriptor_for_several_parameters(node: Node) -> None:
    descriptor = ParameterDescriptor(description="the same")
    node.declare_parameter("a", 1, descriptor)
    node.declare_parameter("b", 2.0, descriptor)
    assert node.describe_parameter("a").name == "a"
    assert node.set_parameters([Parameter("a", value=5)])[0].successful
    assert descriptor == ParameterDescriptor(description="the same")


def test_the_end_of_a_context_ends_what_waits_for_an_action(context: rclpy.Context) -> None:
    client = ActionClient(Node("asks"), Fibonacci, "nobody")
    results: list[object] = []
    thread = threading.Thread(target=lambda: results.append(client.send_goal(Fibonacci.Goal())))
    thread.start()
    threading.Timer(0.2, context.try_shutdown).start()
    thread.join(PATIENCE_S)
    assert results == [None]


def test_a_callback_may_wait_for_a_message(node: Node, spin: Callable[..., None]) -> None:
    publisher = node.create_publisher(String, "answer", 1)
    found: list[tuple[bool, Any]] = []
    others: list[bool] = []

    def ask() -> None:
        timer.cancel()
        threading.Timer(0.2, publisher.publish, [String(data="here")]).start()
        found.append(wait_for_message(String, node, "answer", time_to_wait=PATIENCE_S))
        found.append(wait_for_message(String, node, "answer", time_to_wait=0.01))
        assert not others, "other callbacks are those of the executor"
        assert node.executor is not None

    timer = node.create_timer(0.0, ask)
    node.create_timer(0.0, lambda: others.append(True), callback_group=ReentrantCallbackGroup())
    others.clear()
    spin(lambda: found)
    assert found == [(True, String(data="here")), (False, None)]


def test_a_message_that_is_waited_for_in_a_thread(node: Node, threaded: Executor) -> None:
    publisher = node.create_publisher(String, "answer", 1)
    threading.Timer(0.2, publisher.publish, [String(data="here")]).start()
    assert wait_for_message(String, node, "answer") == (True, String(data="here"))


def test_the_end_of_a_context_ends_what_waits_for_a_message(node: Node) -> None:
    threading.Timer(0.2, node.context.try_shutdown).start()
    assert wait_for_message(String, node, "nothing") == (False, None)


def test_a_signal_handler_may_wake_the_thread_it_interrupts() -> None:
    """The handler runs at a moment at which an event would hold its lock."""
    from rclpy.impl.blocking import Wakeups

    woken, left = Wakeups(), 2000

    def interrupt(frame: object, event: str, argument: object) -> None:
        nonlocal left
        if left > 0:
            left -= 1
            woken.wake()

    sys.setprofile(interrupt)  # as a signal between any two calls
    try:
        while left > 0:
            woken.wait(PATIENCE_S)
    finally:
        sys.setprofile(None)


@pytest.mark.timeout(60)
def test_the_end_of_a_context_may_interrupt_an_event(node: Node, spin: Callable[..., None]) -> None:
    """A signal's handler tells all who look at the graph, whatever it interrupts."""
    matched: list[int] = []
    events = PublisherEventCallbacks(matched=lambda info: matched.append(info.current_count))
    node.create_publisher(String, "matched", 1, event_callbacks=events)

    def interrupt(frame: object, event: str, argument: object) -> None:
        sys.setprofile(None)
        node.context.session.graph.notify()
        sys.setprofile(interrupt)

    sys.setprofile(interrupt)  # as a signal between any two calls
    try:
        node.create_subscription(String, "matched", lambda message: None, 1)
        spin(lambda: matched)
    finally:
        sys.setprofile(None)
    assert matched == [1]
