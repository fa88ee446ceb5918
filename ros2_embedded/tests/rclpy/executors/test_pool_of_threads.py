"""The threads of the executor of several threads: none is counted twice, so that a callback finds one."""

from __future__ import annotations

import queue
import threading
import time
from typing import Any

import pytest
from std_msgs.msg import Int32

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from rclpy.impl.daemon_pool import DaemonPool
from rclpy.node import Node


class Errors:
    def note(self, error: BaseException) -> None:
        raise AssertionError from error


def test_a_function_that_comes_while_a_thread_turns_idle_costs_no_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    errors, first = Errors(), threading.Event()
    started = [threading.Event() for _ in range(3)]
    second_waits, last_ended = threading.Event(), threading.Event()

    def waits(number: int) -> None:
        started[number].set()
        last_ended.wait(60)  # ends only a test that fails anyway

    class Queue(queue.SimpleQueue[Any]):
        """Something is submitted just after a thread found nothing, and that thread gets it."""

        def get_nowait(self) -> Any:
            if threading.current_thread().name != "executor-0":
                started[0].wait(60)
            try:
                return super().get_nowait()
            except queue.Empty:
                if not first.is_set():
                    first.set()
                    pool.submit(lambda: waits(0))
                raise

        def get(self, *arguments: Any, **options: Any) -> Any:
            if threading.current_thread().name == "executor-1":
                second_waits.set()
            return super().get(*arguments, **options)

    monkeypatch.setattr(queue, "SimpleQueue", Queue)
    pool = DaemonPool(4, errors.note)
    pool.submit(lambda: None)
    if not first.wait(0.5):
        pool.submit(lambda: waits(0))
    assert started[0].wait(60)
    second_waits.wait(0.5)  # where there is a second one
    pool.submit(lambda: waits(1))
    assert started[1].wait(60)
    pool.submit(last_ended.set)
    assert last_ended.wait(10)
    assert pool.shutdown(60)


def test_functions_that_wait_for_a_thread_take_turns() -> None:
    errors, done = Errors(), []
    pool = DaemonPool(2, errors.note)
    for number in range(200):
        pool.submit(lambda number=number: done.append(number))
    assert pool.shutdown(60)
    assert sorted(done) == list(range(200))
    assert not pool.submit(lambda: None)


def test_messages_wait_in_the_queue_of_their_subscription_while_all_threads_are_busy(node: Node) -> None:
    heard: list[int] = []
    both_busy, let_go, newest_came = threading.Barrier(3), threading.Event(), threading.Event()

    def take(message: Int32) -> None:
        heard.append(message.data)
        if message.data < 2:
            both_busy.wait(60)
        if message.data == 9:
            newest_came.set()
        let_go.wait(60)

    node.create_subscription(Int32, "numbers", take, 1, callback_group=ReentrantCallbackGroup())
    publisher = node.create_publisher(Int32, "numbers", 1)
    with MultiThreadedExecutor(2) as executor:
        executor.add_node(node)
        for number in range(2):
            publisher.publish(Int32(data=number))
            while number not in heard:
                executor.spin_once(timeout_sec=0.01)
        both_busy.wait(60)
        for number in range(2, 10):
            publisher.publish(Int32(data=number))
            executor.spin_once(timeout_sec=0.0)
        spinner = threading.Thread(target=executor.spin, daemon=True)
        spinner.start()
        let_go.set()
        assert newest_came.wait(60)
    spinner.join(60)
    assert heard == [0, 1, 2, 9]


def test_a_timer_calls_once_after_all_threads_were_busy(node: Node) -> None:
    called: list[str] = []
    busy, let_go = threading.Event(), threading.Event()

    def block() -> None:
        busy.set()
        let_go.wait(60)

    group = ReentrantCallbackGroup()
    with pytest.warns(UserWarning, match="one thread"):
        executor = MultiThreadedExecutor(1)
    with executor:
        executor.add_node(node)
        node.create_guard_condition(block, callback_group=group).trigger()
        executor.spin_once(timeout_sec=60.0)
        assert busy.wait(60)
        timer = node.create_timer(0.001, lambda: called.append("timer"), callback_group=group)
        for _ in range(5):
            while not timer.is_ready():
                time.sleep(0.001)
            executor.spin_once(timeout_sec=0.0)
        timer.cancel()
        let_go.set()
    assert called == ["timer"]
