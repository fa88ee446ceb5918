"""What programs written for rclpy rely on beside its documented functions."""

from __future__ import annotations

import asyncio
import os
import threading
import warnings
from typing import Any

import pytest
from action_msgs.msg import GoalStatus
from std_msgs.msg import String
from test_msgs.action import Fibonacci

import rclpy
from rclpy._rclpy_pybind11 import RCLError
from rclpy.action import ActionClient, ActionServer
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter, get_parameter_value, parameter_dict_from_yaml_file
from rclpy.qos import QoSProfile
from rclpy.subscription_content_filter_options import ContentFilterOptions
from rclpy.task import Future
from rclpy.utilities import remove_ros_args


class Busy(Node):
    """A node of somebody who uses the names that a runtime might use."""

    def __init__(self) -> None:
        self._early = True
        super().__init__("busy")
        self._name = self._namespace = self._rules = self._entities = self._executor = None
        self._publishers: dict[str, Any] = {}
        self._overrides, self._destroyed, self._count = 1, True, 0
        self._rosout = self._withdraw = self._endpoints = self.wake = self.entities = None
        self._kept: list[Any] = []

    def _store(self, message: Any) -> None:
        self._kept.append(message)

    _add = _remove = _profile = _prepare = _resolve = _declare = _remap = _check = _attach = _store
    _check_alive = _of_kind = _of_node = _queried = _set_names = _apply_checked = _store


def test_a_subclass_may_use_any_private_name(context: rclpy.Context) -> None:
    node = Busy()
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    node._publishers["a"] = node.create_publisher(String, "a", 10)
    node.create_subscription(String, "a", node._store, 10)
    node.declare_parameter("p", 3)
    assert node.get_name() == "busy"
    node._publishers["a"].publish(String(data="x"))
    while not node._kept:
        executor.spin_once(timeout_sec=1.0)
    assert node._kept[0].data == "x"
    node.destroy_node()


def test_a_future_is_awaited_in_asyncio() -> None:
    future: Future[int] = Future()

    async def main() -> int | None:
        threading.Timer(0.05, future.set_result, [7]).start()
        return await asyncio.wait_for(_value(future), 10)

    assert asyncio.run(main()) == 7


async def _value(future: Future[int]) -> int | None:
    return await future


def test_a_future_is_awaited_by_hand() -> None:
    future: Future[int] = Future()
    coroutine = _value(future)
    assert coroutine.send(None) is None
    future.set_result(5)
    with pytest.raises(StopIteration) as stop:
        coroutine.send(None)
    assert stop.value.value == 5


def test_a_callback_of_a_done_future_lets_its_error_out() -> None:
    future: Future[int] = Future()
    future.set_result(1)
    with pytest.raises(ZeroDivisionError):
        future.add_done_callback(lambda done: done.result() // 0)


def test_each_tick_of_a_rate_ends_a_spin(node: Node) -> None:
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    rate = node.create_rate(50)
    thread = threading.Thread(target=lambda: [rate.sleep() for _ in range(3)], daemon=True)
    thread.start()
    while thread.is_alive():
        executor.spin_once()  # without a limit
    assert node.destroy_rate(rate)
    assert list(node.timers) == []


def test_a_context_in_a_with_statement_is_initialised() -> None:
    with rclpy.Context() as context:
        assert context.ok()
    assert not context.ok()


def test_a_second_shutdown_is_an_error_of_rcl() -> None:
    rclpy.init(args=[])
    rclpy.shutdown()
    with pytest.raises(RCLError, match="must be initialized"):
        rclpy.shutdown()
    with rclpy.Context() as context:
        rclpy.shutdown(context=context)
        with pytest.raises(RCLError, match="already called"):
            rclpy.shutdown(context=context)


def test_after_a_shutdown_the_default_context_is_another_that_can_be_used() -> None:
    rclpy.init()
    former = rclpy.get_default_context()
    rclpy.shutdown()
    rclpy.get_default_context().init()
    with rclpy.get_default_context() as context:
        assert context is not former
        assert rclpy.get_default_context() is context
        assert rclpy.ok()
    rclpy.try_shutdown()
    assert not rclpy.ok()


def test_warnings(node: Node) -> None:
    with pytest.warns(UserWarning, match="only providing its name is deprecated"):
        node.declare_parameter("bare")
    with pytest.warns(UserWarning, match="zero depth"):
        QoSProfile(depth=0)
    profile = QoSProfile(depth=1)
    with pytest.warns(UserWarning, match="zero depth"):
        profile.depth = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        node.declare_parameter("p", 1)


@pytest.mark.parametrize("text", [" ", "null", "~", ""])
def test_nothing_is_a_text_as_a_parameter(text: str) -> None:
    value = get_parameter_value(text)
    assert (value.type, value.string_value) == (4, text)


def test_a_missing_parameter_file() -> None:
    with pytest.raises(FileNotFoundError):
        parameter_dict_from_yaml_file("/no/such/file.yaml")


def test_an_empty_command_line_and_the_environment() -> None:
    assert remove_ros_args([]) == []
    assert os.environ["ROS_VERSION"] == "2"
    assert os.environ["ROS_DISTRO"]


def test_keywords_of_upstream() -> None:
    from rclpy.clock import ROSClock
    from rclpy.exceptions import InvalidParameterException, NotInitializedException
    from rclpy.time import Time
    from rclpy.waitable import NumberOfEntities

    assert (NumberOfEntities(num_subs=2) + NumberOfEntities(1, num_gcs=3)).num_subscriptions == 3
    assert "msg:why" in str(NotInitializedException(message="why"))
    assert "p" in str(InvalidParameterException(parameter_name="p"))
    ROSClock().set_ros_time_override(time=Time(seconds=1))


def test_a_callback_that_returns_nothing_refuses_the_parameter(node: Node) -> None:
    node.declare_parameter("gain", 1)
    node.add_on_set_parameters_callback(lambda parameters: None)  # type: ignore[arg-type,return-value]
    with pytest.warns(UserWarning, match="in place of a SetParametersResult"):
        [result] = node.set_parameters([Parameter("gain", value=2)])
    assert (result.successful, result.reason) == (False, "Callback returned an invalid type")
    assert node.get_parameter("gain").value == 1


def test_one_place_may_log_at_levels_that_are_not_written(
    node: Node, capfd: pytest.CaptureFixture[str]
) -> None:
    for level in ("debug", "info", "debug", "info"):
        getattr(node.get_logger(), level)(f"at {level}")
    assert capfd.readouterr().err.count("at info") == 2


def test_an_error_of_a_goal_is_told_with_its_place(
    node: Node, spin: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    def execute(goal_handle: Any) -> Any:
        raise ValueError("at the far end")

    server = ActionServer(node, Fibonacci, "count", execute)
    client = ActionClient(node, Fibonacci, "count")
    spin(client.server_is_ready)
    sent = client.send_goal_async(Fibonacci.Goal())
    spin(sent.done)
    result = sent.result().get_result_async()
    spin(result.done)
    assert result.result().status == GoalStatus.STATUS_ABORTED
    told = capfd.readouterr().err
    assert "ValueError: at the far end" in told
    assert "in execute" in told
    server.destroy()
    client.destroy()


def test_a_goal_that_the_program_executes_itself(node: Node, spin: Any) -> None:
    accepted: list[Any] = []
    server = ActionServer(node, Fibonacci, "by_hand", handle_accepted_callback=accepted.append)
    client = ActionClient(node, Fibonacci, "by_hand")
    spin(client.server_is_ready)
    sent = client.send_goal_async(Fibonacci.Goal(order=3))
    spin(sent.done)
    accepted[0].executing()
    assert accepted[0].status == GoalStatus.STATUS_EXECUTING
    answered = sent.result().get_result_async()
    accepted[0].succeed(Fibonacci.Result(sequence=[0, 1, 1]))
    spin(answered.done)
    assert answered.result().status == GoalStatus.STATUS_SUCCEEDED
    assert answered.result().result.sequence.tolist() == [0, 1, 1]
    server.destroy()


def test_a_content_filter_is_accepted_and_said_to_be_off(node: Node, spin: Any) -> None:
    received: list[str] = []
    options = ContentFilterOptions(filter_expression="data = %0", expression_parameters=["'x'"])
    subscription = node.create_subscription(
        String, "all", lambda message: received.append(message.data), 10, content_filter_options=options
    )
    assert subscription.is_cft_enabled is False
    with pytest.raises(RCLError, match="content filter"):
        subscription.set_content_filter(*options)
    with pytest.raises(RCLError, match="content filter"):
        subscription.get_content_filter()
    node.create_publisher(String, "all", 10).publish(String(data="y"))
    spin(lambda: received)
    assert received == ["y"]
