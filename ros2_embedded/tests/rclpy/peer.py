"""The other process of the tests: `python peer.py <role>`; prints `ready`, then works until it is told
to end.
"""

from __future__ import annotations

import signal
import sys
import time

from example_interfaces.action import Fibonacci
from example_interfaces.srv import AddTwoInts
from std_msgs.msg import String

import rclpy
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile

LATCHED = QoSProfile(depth=3, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def say(text: str) -> None:
    """Tell the test."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def add(request: AddTwoInts.Request, response: AddTwoInts.Response) -> AddTwoInts.Response:
    """Add."""
    response.sum = request.a + request.b
    return response


def fibonacci(goal_handle: object) -> Fibonacci.Result:
    """Compute slowly enough to be canceled."""
    feedback = Fibonacci.Feedback(sequence=[0, 1])
    for _ in range(goal_handle.request.order):  # type: ignore[attr-defined]
        if goal_handle.is_cancel_requested:  # type: ignore[attr-defined]
            goal_handle.canceled()  # type: ignore[attr-defined]
            return Fibonacci.Result(sequence=feedback.sequence)
        feedback.sequence.append(feedback.sequence[-1] + feedback.sequence[-2] & 0xFFFF)
        goal_handle.publish_feedback(feedback)  # type: ignore[attr-defined]
        time.sleep(0.01)
    goal_handle.succeed()  # type: ignore[attr-defined]
    return Fibonacci.Result(sequence=feedback.sequence)


def hurry(goal_handle: object) -> Fibonacci.Result:
    """Send all feedback and end, as fast as possible."""
    for index in range(goal_handle.request.order):  # type: ignore[attr-defined]
        goal_handle.publish_feedback(Fibonacci.Feedback(sequence=[index]))  # type: ignore[attr-defined]
    goal_handle.succeed()  # type: ignore[attr-defined]
    return Fibonacci.Result()


def make(role: str) -> Node:
    """The node of a role."""
    if role == "lifecycle":
        return LifecycleNode("managed")
    node = Node("peer", namespace="/other")
    if role == "echo":
        publisher = node.create_publisher(String, "/reply", 10)
        node.create_subscription(String, "/say", lambda m: publisher.publish(String(data=m.data + "!")), 10)
    elif role == "latched":
        publisher = node.create_publisher(String, "/latched", LATCHED)
        for index in range(5):
            publisher.publish(String(data=str(index)))
    elif role == "server":
        group = ReentrantCallbackGroup()
        node.create_service(AddTwoInts, "/add", add)
        ActionServer(
            node,
            Fibonacci,
            "/fibonacci",
            fibonacci,
            goal_callback=lambda goal: GoalResponse.REJECT if goal.order < 0 else GoalResponse.ACCEPT,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=group,
        )
    elif role == "hurry":
        ActionServer(node, Fibonacci, "/hurry", hurry)
    elif role == "parameters":
        node.declare_parameter("speed", 1.5)
        node.declare_parameter("name", "x")
    return node


def main() -> None:
    """Run a role."""
    role = sys.argv[1]
    # A shell that runs the tests in the background has its children ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    rclpy.init()
    node = make(role)
    executor = MultiThreadedExecutor(4)
    executor.add_node(node)
    if role == "crash":
        say("ready")
        raise RuntimeError("ended without shutdown")
    executor.create_task(say, "ready")
    try:
        executor.spin()
        say("shutdown")
    except KeyboardInterrupt:
        say("KeyboardInterrupt")
    except ExternalShutdownException:
        say("shutdown")


if __name__ == "__main__":
    main()
