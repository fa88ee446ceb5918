"""Nothing is left behind: no context, thread, node or callback group."""

from __future__ import annotations

import gc
import sys
import threading
import time
import weakref
from typing import Any

import pytest
from std_msgs.msg import String

import rclpy
from rclpy import Parameter
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.exceptions import InvalidParameterTypeException
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.waitable import NumberOfEntities, Waitable

PATIENCE_S = 90.0


def test_a_context_goes_with_what_spun_its_nodes() -> None:
    def live() -> tuple[Any, ...]:
        context = rclpy.Context()
        rclpy.init(args=[], context=context)
        node = Node("short", context=context)
        node.create_publisher(String, "short", 1)
        node.create_timer(0.0, lambda: None)
        rclpy.spin_once(node)
        node.destroy_node()
        rclpy.shutdown(context=context)
        return weakref.ref(context), weakref.ref(node)

    left = live()
    gc.collect()
    assert [what() for what in left] == [None, None]


def test_threads_end_with_an_executor_that_nobody_holds(context: rclpy.Context) -> None:
    before = threading.active_count()
    executor = MultiThreadedExecutor(3)
    assert threading.active_count() == before, "threads start when there is something to do"
    started = threading.Barrier(4)
    for _ in range(3):
        executor.create_task(started.wait, PATIENCE_S)
        executor.spin_once(timeout_sec=PATIENCE_S)
    started.wait(PATIENCE_S)
    threads = [thread for thread in threading.enumerate() if thread.name.startswith("executor-")]
    assert len(threads) >= 3
    del executor
    end = time.monotonic() + PATIENCE_S
    while any(thread.is_alive() for thread in threads):
        assert time.monotonic() < end
        gc.collect()  # what runs in the threads holds the executor until it is through
        time.sleep(0.01)


def test_a_node_that_could_not_be_made_is_not_in_the_graph(node: Node) -> None:
    with pytest.raises(InvalidParameterTypeException):
        Node("half", parameter_overrides=[Parameter("use_sim_time", value="text")])
    assert node.get_node_names() == ["tester"]
    assert node.count_publishers("/rosout") == 1


class Failing(Waitable):
    """Fails when it is taken, once."""

    def __init__(self, group: MutuallyExclusiveCallbackGroup) -> None:
        super().__init__(group)
        self.is_there = True

    def is_ready(self, wait_set: Any) -> bool:
        return self.is_there

    def take_data(self) -> Any:
        self.is_there = False
        raise ValueError("not this time")

    async def execute(self, taken_data: Any) -> None:
        raise AssertionError

    def get_num_entities(self) -> NumberOfEntities:
        return NumberOfEntities()

    def add_to_wait_set(self, wait_set: Any) -> None:
        pass


def test_a_callback_group_is_free_after_a_failure_to_take(node: Node) -> None:
    group, calls = MutuallyExclusiveCallbackGroup(), []
    node.add_waitable(Failing(group))
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    with pytest.raises(ValueError, match="not this time"):
        executor.spin_once(timeout_sec=PATIENCE_S)
    node.create_timer(0.0, lambda: calls.append(True), callback_group=group)
    executor.spin_once(timeout_sec=1.0)
    assert calls


@pytest.mark.parametrize("kind", [SingleThreadedExecutor, lambda: MultiThreadedExecutor(2)])
def test_shutdown_waits_for_what_runs(node: Node, kind: Any) -> None:
    executor = kind()
    began, may_end = threading.Event(), threading.Event()
    ended: list[bool] = []

    def work() -> None:
        began.set()
        may_end.wait(PATIENCE_S)
        ended.append(True)

    node.create_timer(0.0, work)
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin)
    thread.start()
    assert began.wait(PATIENCE_S)
    assert executor.shutdown(timeout_sec=0) is False
    assert executor.shutdown(timeout_sec=0.05) is False
    assert not ended
    threading.Timer(0.2, may_end.set).start()
    assert executor.shutdown(timeout_sec=-1) is True
    assert ended
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


@pytest.mark.parametrize("kind", [SingleThreadedExecutor, lambda: MultiThreadedExecutor(2)])
def test_a_callback_may_shut_its_own_executor_down(node: Node, kind: Any) -> None:
    executor = kind()
    results: list[bool] = []
    node.create_timer(0.0, lambda: results.append(executor.shutdown()) if not results else None)
    executor.add_node(node)
    executor.spin()
    executor.shutdown()
    assert results == [True]


def test_entities_made_and_destroyed_in_several_threads(node: Node) -> None:
    kept: list[Any] = []
    at_once = threading.Barrier(6)

    def work() -> None:
        at_once.wait(PATIENCE_S)
        for _ in range(150):
            made = [node.create_guard_condition(lambda: None) for _ in range(2)]
            assert node.destroy_guard_condition(made[0])
            kept.append(made[1])

    before = len(list(node.guards))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE_S)
    finally:
        sys.setswitchinterval(interval)
    assert set(kept) <= set(node.guards)
    assert len(list(node.guards)) == before + len(kept) == before + 900


def test_what_was_taken_while_the_executor_was_shut_down_is_done(node: Node) -> None:
    """Else its callback group would stay taken for the next executor."""

    class Late(MultiThreadedExecutor):
        ends = False

        def _next_work(self, *arguments: Any) -> Any:
            work = super()._next_work(*arguments)
            if self.ends:
                self.shutdown()
            return work

    calls: list[bool] = []
    first, second = Late(2), SingleThreadedExecutor()
    warm = first.create_task(lambda: None)
    first.spin_once(timeout_sec=PATIENCE_S)
    assert warm.wait(PATIENCE_S)
    node.create_timer(0.0, lambda: calls.append(True))
    first.add_node(node)
    first.ends = True
    first.spin_once(timeout_sec=PATIENCE_S)
    assert len(calls) == 1
    second.add_node(node)
    second.spin_once(timeout_sec=1.0)
    assert len(calls) == 2
