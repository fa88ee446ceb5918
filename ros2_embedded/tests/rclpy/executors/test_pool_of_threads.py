"""The threads of the executor of several threads: none is counted twice, so that a callback finds one."""

from __future__ import annotations

import queue
import threading
from typing import Any

import pytest

from rclpy.impl.daemon_pool import DaemonPool


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
