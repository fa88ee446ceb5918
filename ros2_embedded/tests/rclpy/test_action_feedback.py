"""Feedback that a server sends at once, and ends, reaches a client that has just come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from example_interfaces.action import Fibonacci

import rclpy
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile

COUNT = 20


@pytest.mark.parametrize("is_coroutine", [False, True])
def test_all_feedback_comes_before_the_result(peer: Callable[..., Any], is_coroutine: bool) -> None:
    peer("hurry")
    for _ in range(5):  # a session of its own each time: discovery is part of the test
        with rclpy.init(args=[], context=rclpy.Context()) as context, Node("client", context=context) as node:
            seen: list[int] = []

            async def later(message: Any, seen: list[int] = seen) -> None:
                seen.append(message.feedback.sequence[0])

            def now(message: Any, seen: list[int] = seen) -> None:
                seen.append(message.feedback.sequence[0])

            profile = QoSProfile(depth=COUNT)
            client = ActionClient(node, Fibonacci, "/hurry", feedback_sub_qos_profile=profile)
            assert client.wait_for_server(20.0)
            executor = SingleThreadedExecutor(context=context)
            executor.add_node(node)
            goal = client.send_goal_async(Fibonacci.Goal(order=COUNT), later if is_coroutine else now)
            executor.spin_until_future_complete(goal, 20.0)
            handle = goal.result()
            assert handle is not None
            result = handle.get_result_async()
            executor.spin_until_future_complete(result, 20.0)
            for _ in range(10 * COUNT if is_coroutine else 0):  # coroutines are tasks of the executor
                executor.spin_once(timeout_sec=0)
            assert seen == list(range(COUNT))
            executor.shutdown()
