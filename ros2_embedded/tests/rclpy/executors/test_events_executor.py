"""`EventsExecutor`, and simulated time that a program advances by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from action_msgs.msg import GoalStatus
from rosgraph_msgs.msg import Clock
from test_msgs.action import Fibonacci

import rclpy
from rclpy.action import ActionClient, ActionServer
from rclpy.clock_type import ClockType
from rclpy.duration import Duration
from rclpy.executors import MultiThreadedExecutor, ShutdownException, SingleThreadedExecutor
from rclpy.experimental import EventsExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.task import Future
from rclpy.time import Time
from rclpy.timer import TimerInfo

SIMULATED = [Parameter("use_sim_time", value=True)]


class World(Node):
    """Publishes simulated time."""

    def __init__(self) -> None:
        super().__init__("world")
        self.time = Time(clock_type=ClockType.ROS_TIME)
        profile = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        self.publisher = self.create_publisher(Clock, "/clock", profile)

    def advance(self, milliseconds: int) -> None:
        self.time += Duration(nanoseconds=milliseconds * 1_000_000)
        self.publisher.publish(Clock(clock=self.time.to_msg()))


@pytest.fixture
def executor(context: rclpy.Context) -> Iterator[EventsExecutor]:
    executor = EventsExecutor()
    yield executor
    executor.shutdown()


@pytest.fixture
def world(executor: EventsExecutor) -> Iterator[World]:
    world = World()
    executor.add_node(world)
    yield world
    world.destroy_node()


def step(executor: EventsExecutor) -> None:
    """Do what is ready, without waiting."""
    executor.spin_until_future_complete(Future(), 0.0)


def test_timers_follow_simulated_time(executor: EventsExecutor, world: World) -> None:
    node = Node("timed", parameter_overrides=SIMULATED)
    executor.add_node(node)
    calls: list[TimerInfo] = []

    def note(info: TimerInfo) -> None:
        calls.append(info)

    node.create_timer(0.1, note)
    for _ in range(99):
        world.advance(1)
        step(executor)
    assert not calls
    world.advance(1)
    step(executor)
    assert [call.actual_call_time for call in calls] == [world.time]
    assert calls[0].expected_call_time == world.time
    for _ in range(20):
        world.advance(100)
        step(executor)
    assert len(calls) == 21
    node.destroy_node()


def test_the_first_timer_cancels_the_second(executor: EventsExecutor, world: World) -> None:
    node = Node("timed", parameter_overrides=SIMULATED)
    executor.add_node(node)
    calls: list[int] = []

    def cancel() -> None:
        calls.append(1)
        for timer in timers:
            timer.cancel()

    timers = [node.create_timer(0.01, cancel) for _ in range(2)]
    for _ in range(3):
        world.advance(10)
        step(executor)
    assert calls == [1]
    node.destroy_node()


def test_a_goal_that_expired_is_unknown(executor: EventsExecutor, world: World) -> None:
    node = Node("server", parameter_overrides=SIMULATED)
    executor.add_node(node)
    accepted: list[Any] = []

    def execute(handle: Any) -> Any:
        handle.succeed()
        return Fibonacci.Result()

    server = ActionServer(
        node, Fibonacci, "count", execute, handle_accepted_callback=accepted.append, result_timeout=10
    )
    client = ActionClient(node, Fibonacci, "count")
    assert client.wait_for_server(90.0)
    world.advance(1)
    sent = client.send_goal_async(Fibonacci.Goal())
    executor.spin_until_future_complete(sent, 90.0)
    result = sent.result().get_result_async()
    accepted[0].execute()
    executor.spin_until_future_complete(result, 90.0)
    world.advance(9_999)
    step(executor)
    assert accepted[0].status == GoalStatus.STATUS_SUCCEEDED
    world.advance(2)
    while accepted[0].status != GoalStatus.STATUS_UNKNOWN:
        executor.spin_once(timeout_sec=0.05)
    client.destroy()
    server.destroy()
    node.destroy_node()


def test_feedback_comes_before_who_waits_for_the_answer_goes_on(node: Node) -> None:
    impl = Fibonacci.Impl
    client = node.create_client(impl.SendGoalService, "count/_action/send_goal")
    heard: list[Any] = []
    node.create_subscription(impl.FeedbackMessage, "count/_action/feedback", heard.append, 1)
    accepted: list[Any] = []

    def accept(handle: Any) -> None:
        accepted.append(handle)
        handle.execute()

    def execute(handle: Any) -> Any:
        handle.publish_feedback(Fibonacci.Feedback(sequence=[1, 1, 2]))
        handle.succeed()
        return Fibonacci.Result()

    server = ActionServer(node, Fibonacci, "count", execute, handle_accepted_callback=accept)
    client.wait_for_service()
    future = client.call_async(impl.SendGoalService.Request())
    rclpy.spin_until_future_complete(node, future, SingleThreadedExecutor())
    assert len(accepted) == 1
    assert heard[0].feedback.sequence.tolist() == [1, 1, 2]
    server.destroy()


def test_a_timeout_of_zero_does_one_callback(node: Node) -> None:
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    task = executor.create_task(lambda: 3)
    executor.spin_until_future_complete(Future(), 0.0)
    assert task.result() == 3


@pytest.mark.parametrize("kind", [SingleThreadedExecutor, MultiThreadedExecutor])
def test_executors_that_iterate_over_callbacks(node: Node, kind: Any) -> None:
    executor = kind()
    executor.add_node(node)
    done: list[int] = []
    executor.create_task(done.append, 1)
    ready = executor._wait_for_ready_callbacks(timeout_sec=1.0)
    task, entity, owner = next(ready)
    task()
    assert (done, entity, owner) == ([1], None, None)
    executor.shutdown()
    with pytest.raises(ShutdownException):
        next(ready)
