"""A buffer that is asked from elsewhere."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from geometry_msgs.msg import TransformStamped
from tf2_msgs.action import LookupTransform
from tf2_msgs.msg import TF2Error

from rclpy.duration import Duration
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.node import Node
from rclpy.time import Time
from tf2_ros import (
    Buffer,
    BufferClient,
    BufferCore,
    BufferServer,
    ConnectivityException,
    ExtrapolationException,
    InvalidArgumentException,
    LookupException,
    TimeoutException,
    TransformException,
)

PATIENCE = Duration(seconds=90.0)
NEVER = Duration(seconds=0.05)


def make(parent: str, child: str, seconds: float, x: float) -> TransformStamped:
    message = TransformStamped(child_frame_id=child)
    message.header.frame_id = parent
    message.header.stamp = Time(seconds=seconds).to_msg()
    message.transform.translation.x = x
    message.transform.rotation.w = 1.0
    return message


@pytest.fixture
def buffer(node: Node) -> Iterator[Buffer]:
    """A buffer that is served, with frames `a` and `b` at seconds 1 and 2."""
    buffer = Buffer()
    for second in (1, 2):
        buffer.set_transform(make("a", "b", second, float(second)), "test")
    buffer.set_transform(make("island", "palm", 1, 1.0), "test")
    server = BufferServer(buffer, node, "frames")
    executor = MultiThreadedExecutor(4)
    executor.add_node(node)

    def spin() -> None:
        with contextlib.suppress(ExternalShutdownException):
            executor.spin()

    thread = threading.Thread(target=spin)
    thread.start()
    yield buffer
    executor.shutdown()
    thread.join()
    server.destroy()


def test_a_question_of_a_time_before_zero_is_answered(node: Node, buffer: Buffer) -> None:
    client = BufferClient(node, "frames")
    early = make("a", "b", 0, 0.0).header.stamp
    early.sec = -5
    wait_for(client)
    with pytest.raises(ExtrapolationException):
        client.lookup_transform("a", "b", early)


def test_an_answer_that_was_given_up_is_no_transform(node: Node, buffer: Buffer) -> None:
    class Broken(Buffer):
        def lookup_transform(self, *_: Any, **__: Any) -> Any:
            raise RuntimeError("broken")

    server, client = BufferServer(Broken(), node, "broken"), BufferClient(node, "broken")
    wait_for(client)
    with pytest.raises(TransformException, match="gave the question up"):
        client.lookup_transform("a", "b", Time())
    server.destroy()


def wait_for(client: BufferClient) -> None:
    assert client.action_client.wait_for_server(90.0)


class HandMadeServer:
    """Services and feedback of the action, put together as programs do; it has no status."""

    def __init__(self, node: Node, core: BufferCore) -> None:
        self.core, self.results = core, {}
        impl, name = LookupTransform.Impl, "by_hand/_action"
        node.create_service(impl.SendGoalService, f"{name}/send_goal", self.look_up)
        node.create_service(impl.CancelGoalService, f"{name}/cancel_goal", lambda request, response: response)
        node.create_service(impl.GetResultService, f"{name}/get_result", self.tell)
        node.create_publisher(impl.FeedbackMessage, f"{name}/feedback", 1)

    def look_up(self, request: Any, response: Any) -> Any:
        goal, result = request.goal, LookupTransform.Result()
        try:
            result.transform = self.core.lookup_transform_core(
                goal.target_frame, goal.source_frame, goal.source_time
            )
        except LookupException as error:
            result.error = TF2Error(error=TF2Error.LOOKUP_ERROR, error_string=str(error))
        self.results[bytes(request.goal_id.uuid)] = result
        response.accepted = True
        return response

    def tell(self, request: Any, response: Any) -> Any:
        response.result = self.results[bytes(request.goal_id.uuid)]
        return response


def test_a_server_made_by_hand(node: Node, buffer: Buffer) -> None:
    HandMadeServer(node, buffer)
    client = BufferClient(node, "by_hand", check_frequency=10.0, timeout_padding=PATIENCE.nanoseconds / 1e9)
    assert client.action_client.wait_for_server(timeout_sec=90.0)
    found = client.lookup_transform("a", "b", Time(seconds=1).to_msg(), PATIENCE)
    assert found == make("a", "b", 1, 1.0)
    with pytest.raises(LookupException, match="does not exist"):
        client.lookup_transform("a", "moon", Time(), PATIENCE)


@pytest.fixture
def client(node: Node, buffer: Buffer) -> BufferClient:
    client = BufferClient(node, "frames", timeout_padding=PATIENCE)
    assert client.action_client.wait_for_server(timeout_sec=90.0)
    return client


def x_of(transform: Any) -> float:
    return float(transform.transform.translation.x)


def test_answers(client: BufferClient) -> None:
    assert x_of(client.lookup_transform("a", "b", Time())) == 2.0
    assert x_of(client.lookup_transform("a", "b", Time(seconds=1.5))) == 1.5
    assert client.can_transform("a", "b", Time(seconds=1))
    full = client.lookup_transform_full("b", Time(seconds=2), "b", Time(seconds=1), "a")
    assert x_of(full) == -1.0
    assert client.can_transform_full("b", Time(seconds=2), "b", Time(seconds=1), "a")
    assert not client.can_transform_full("b", Time(seconds=9), "b", Time(seconds=1), "a", NEVER)


@pytest.mark.parametrize(
    ("target", "source", "second", "error"),
    [
        ("a", "nobody", 1, LookupException),
        ("a", "palm", 1, ConnectivityException),
        ("a", "b", 9, ExtrapolationException),
        ("", "b", 1, InvalidArgumentException),
    ],
)
def test_errors_are_those_of_the_buffer(
    client: BufferClient, target: str, source: str, second: int, error: type[Exception]
) -> None:
    for timeout in (None, NEVER):
        with pytest.raises(error):
            client.lookup_transform(target, source, Time(seconds=second), timeout)
    assert not client.can_transform(target, source, Time(seconds=second))


def test_an_answer_waits_for_its_transform(client: BufferClient, buffer: Buffer) -> None:
    late = threading.Timer(0.05, buffer.set_transform, [make("a", "late", 1, 7.0), "test"])
    late.start()
    assert x_of(client.lookup_transform("a", "late", Time(), PATIENCE)) == 7.0


def test_without_a_server(node: Node) -> None:
    with pytest.raises(TimeoutException, match="not ready"):
        BufferClient(node, "nowhere").lookup_transform("a", "b", Time())
