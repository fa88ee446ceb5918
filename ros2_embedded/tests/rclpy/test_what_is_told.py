"""What callbacks of programs raise is told with where it was raised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from example_interfaces.action import Fibonacci

import rclpy
from rclpy.action import ActionClient, ActionServer
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from rclpy.node import Node


def broken(*_: Any) -> Any:
    raise KeyError("of the program")


def test_an_exception_in_a_transition(context: rclpy.Context, capfd: pytest.CaptureFixture[str]) -> None:
    node = LifecycleNode("managed")
    node.register_on_configure(broken)
    assert node.trigger_configure() is TransitionCallbackReturn.ERROR
    node.destroy_node()
    told = capfd.readouterr().err
    assert "exception in a callback of state configuring: KeyError('of the program')" in told
    assert "in broken" in told


@pytest.mark.parametrize("which", ["goal_callback", "cancel_callback"])
def test_an_exception_that_refuses_a_goal(
    node: Node, spin: Callable[..., None], which: str, capfd: pytest.CaptureFixture[str]
) -> None:
    server = ActionServer(
        node,
        Fibonacci,
        "fails",
        lambda handle: Fibonacci.Result(),
        handle_accepted_callback=lambda handle: None,
        **{which: broken},
    )
    client = ActionClient(node, Fibonacci, "fails")
    spin(client.server_is_ready)
    sent = client.send_goal_async(Fibonacci.Goal())
    spin(sent.done)
    handle = sent.result()
    assert handle is not None
    assert handle.accepted is (which == "cancel_callback")
    if handle.accepted:
        cancelled = handle.cancel_goal_async()
        spin(cancelled.done)
        assert not cancelled.result().goals_canceling
    assert "in broken" in capfd.readouterr().err
    server.destroy()
