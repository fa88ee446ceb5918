"""Executors: tasks, coroutines, callback groups, timeouts, exceptions, shutdown."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest
from example_interfaces.srv import AddTwoInts

import rclpy
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from rclpy.context import Context
from rclpy.exceptions import NotInitializedException
from rclpy.executors import (
    Executor,
    ExternalShutdownException,
    MultiThreadedExecutor,
    SingleThreadedExecutor,
)
from rclpy.node import Node
from rclpy.task import Future

PATIENCE_S = 90.0


def add(request: AddTwoInts.Request, response: AddTwoInts.Response) -> AddTwoInts.Response:
    """Add."""
    response.sum = request.a + request.b
    return response


def test_coroutine_callback_awaits_a_client(node: Node) -> None:
    node.create_service(AddTwoInts, "add", add)
    client = node.create_client(AddTwoInts, "add", callback_group=ReentrantCallbackGroup())
    done: Future[int] = Future()

    async def callback() -> None:
        timer.cancel()
        first = await client.call_async(AddTwoInts.Request(a=1, b=2))
        second = await client.call_async(AddTwoInts.Request(a=first.sum, b=10))
        done.set_result(second.sum)

    timer = node.create_timer(0.001, callback, callback_group=MutuallyExclusiveCallbackGroup())
    rclpy.spin_until_future_complete(node, done, timeout_sec=PATIENCE_S)
    assert done.result() == 13


def test_coroutine_service(node: Node) -> None:
    gate: Future[int] = Future()

    async def slow(request: AddTwoInts.Request, response: AddTwoInts.Response) -> AddTwoInts.Response:
        response.sum = await gate or 0
        return response

    node.create_service(AddTwoInts, "slow", slow)
    client = node.create_client(AddTwoInts, "slow", callback_group=ReentrantCallbackGroup())
    future = client.call_async(AddTwoInts.Request())
    node.create_timer(0.01, lambda: gate.set_result(7), callback_group=ReentrantCallbackGroup())
    rclpy.spin_until_future_complete(node, future, timeout_sec=PATIENCE_S)
    assert future.result().sum == 7


def test_create_task(node: Node) -> None:
    executor = SingleThreadedExecutor()
    inner: Future[int] = Future(executor=executor)

    async def work(offset: int) -> int:
        return (await inner or 0) + offset

    task = executor.create_task(work, 2)
    executor.spin_once(timeout_sec=0.0)
    assert not task.done()
    inner.set_result(40)
    executor.spin_until_future_complete(task, timeout_sec=PATIENCE_S)
    assert task.result() == 42


def test_call_from_another_thread(node: Node, threaded: Executor) -> None:
    node.create_service(AddTwoInts, "add", add)
    client = node.create_client(AddTwoInts, "add")
    assert client.wait_for_service(PATIENCE_S)
    assert client.call(AddTwoInts.Request(a=2, b=3), PATIENCE_S).sum == 5


def test_call_times_out(node: Node, threaded: Executor) -> None:
    client = node.create_client(AddTwoInts, "nobody")
    assert not client.wait_for_service(0.01)
    assert not client.service_is_ready()
    assert client.call(AddTwoInts.Request(), 0.05) is None


@pytest.mark.parametrize(
    ("group", "expected"), [(MutuallyExclusiveCallbackGroup, 1), (ReentrantCallbackGroup, 2)]
)
def test_groups_decide_what_runs_together(node: Node, threaded: Executor, group: type, expected: int) -> None:
    meeting = threading.Barrier(2)
    met: list[int] = []
    finished = threading.Event()

    def callback() -> None:
        try:
            meeting.wait(0.1 if expected == 1 else PATIENCE_S)
            met.append(2)
        except threading.BrokenBarrierError:
            met.append(1)
        if len(met) >= 2:
            finished.set()

    shared = group()
    timers = [node.create_timer(0.01, callback, callback_group=shared) for _ in range(2)]
    assert finished.wait(PATIENCE_S)
    for timer in timers:
        timer.cancel()
    assert met[0] == expected


def test_exception_comes_out_of_spin(node: Node) -> None:
    def fail() -> None:
        raise ValueError("from the callback")

    node.create_timer(0.001, fail)
    for executor in (SingleThreadedExecutor(), MultiThreadedExecutor(2)):
        with pytest.raises(ValueError, match="from the callback"):
            rclpy.spin(node, executor)
        executor.shutdown()


def test_exception_of_a_coroutine_comes_out_of_spin(node: Node) -> None:
    async def fail() -> None:
        raise ValueError("from the coroutine")

    node.create_timer(0.001, fail)
    with pytest.raises(ValueError, match="from the coroutine"):
        rclpy.spin(node)


def test_spin_until_future_complete_times_out(node: Node) -> None:
    future: Future[int] = Future()
    rclpy.spin_until_future_complete(node, future, timeout_sec=0.05)
    assert not future.done()


def test_shutdown_in_a_callback_ends_spin(node: Node) -> None:
    node.create_timer(0.001, rclpy.shutdown)
    rclpy.spin(node)
    assert not rclpy.ok()
    with pytest.raises(RuntimeError):
        rclpy.shutdown()


def test_shutdown_by_another_thread_raises_in_spin(context: Context, node: Node) -> None:
    waker = threading.Timer(0.2, context.try_shutdown)
    waker.start()
    with pytest.raises(ExternalShutdownException):
        rclpy.spin(node)
    waker.join()


def test_guard_condition_and_destroyed_entities(node: Node) -> None:
    called: list[int] = []
    guard = node.create_guard_condition(lambda: called.append(1))
    guard.trigger()
    rclpy.spin_once(node, timeout_sec=PATIENCE_S)
    assert called == [1]
    guard.trigger()
    assert node.destroy_guard_condition(guard)
    assert not node.destroy_guard_condition(guard)
    rclpy.spin_once(node, timeout_sec=0.01)
    assert called == [1]


def test_node_changes_its_executor(node: Node) -> None:
    first, second = SingleThreadedExecutor(), SingleThreadedExecutor()
    assert first.add_node(node)
    assert not first.add_node(node)
    assert second.add_node(node)
    assert (first.get_nodes(), second.get_nodes()) == ([], [node])
    node.destroy_node()
    assert second.get_nodes() == []


def test_init_and_shutdown_again_and_again() -> None:
    make: Callable[[], Node] = lambda: Node("again")  # noqa: E731
    before = threading.active_count()
    for _ in range(5):
        with rclpy.init(args=[]):
            node = make()
            rclpy.spin_once(node, timeout_sec=0.0)
            node.destroy_node()
        assert not rclpy.ok()
    assert threading.active_count() == before


def test_a_shutdown_callback_that_raises_keeps_nobody_waiting() -> None:
    context = rclpy.Context()
    context.init([])
    node = Node("waits", context=context)

    def fail() -> None:
        raise ValueError("of a program")

    context.on_shutdown(fail)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    ended: list[type[BaseException]] = []

    def spin() -> None:
        try:
            executor.spin()
        except ExternalShutdownException as error:
            ended.append(type(error))

    spinner = threading.Thread(target=spin, daemon=True)
    executor.create_task(lambda: None)
    spinner.start()
    while executor._tasks:
        time.sleep(0.001)
    with pytest.raises(ValueError, match="of a program"):
        context.try_shutdown()
    spinner.join(60)
    assert not spinner.is_alive()
    with pytest.raises(NotInitializedException):
        _ = context.session
