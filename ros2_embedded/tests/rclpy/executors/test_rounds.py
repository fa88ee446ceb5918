"""Rounds of an executor: what became ready behind one is found at once; what is silent is seldom asked."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.guard_condition import GuardCondition
from rclpy.node import Node

PATIENCE_S = 90.0


@pytest.fixture
def executor(node: Node) -> Executor:
    spun = SingleThreadedExecutor()
    spun.add_node(node)
    spun.spin_once(timeout_sec=0.0)
    return spun


def test_what_is_silent_is_asked_once_for_a_callback_and_once_when_nothing_is_left(
    node: Node, executor: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[int] = []
    trigger = node.create_guard_condition(lambda: called.append(1))
    silent = node.create_guard_condition(lambda: None)
    asked: list[Any] = []
    is_pending: Callable[[Any], bool] = GuardCondition.is_pending
    monkeypatch.setattr(GuardCondition, "is_pending", lambda self: asked.append(self) or is_pending(self))
    executor.spin_once(timeout_sec=0.0)
    asked.clear()
    trigger.trigger()
    executor.spin_once(timeout_sec=PATIENCE_S)
    executor.spin_once(timeout_sec=0.0)
    assert called == [1]
    assert asked.count(silent) == 1
    executor.spin_once(timeout_sec=0.0)
    assert asked.count(silent) == 2


def test_what_a_callback_wakes_before_it_is_found_without_a_wait(node: Node, executor: Executor) -> None:
    called: list[str] = []
    first = node.create_guard_condition(lambda: called.append("first"))

    def wake() -> None:
        called.append("second")
        first.trigger()

    node.create_guard_condition(wake).trigger()
    executor.spin_once(timeout_sec=0.0)
    executor.spin_once(timeout_sec=0.0)
    assert called == ["second", "first"]


def test_a_timer_that_a_callback_made_late_is_called_without_a_wait(node: Node, executor: Executor) -> None:
    called: list[str] = []
    timer = node.create_timer(0.2, lambda: called.append("timer"))

    def outlast() -> None:
        while not timer.is_ready():
            time.sleep(0.01)
        called.append("slow")

    node.create_guard_condition(outlast).trigger()
    while "slow" not in called:  # a busy machine may be so late that the timer is first, too
        executor.spin_once(timeout_sec=0.0)
    executor.spin_once(timeout_sec=0.0)
    assert called[-1] == "timer"


def test_all_that_waits_in_one_queue_is_taken_without_a_further_wake(node: Node, executor: Executor) -> None:
    heard: list[int] = []
    guard = node.create_guard_condition(lambda: heard.append(1) or again())

    def again() -> None:
        """Become pending once more, as a queue that holds more does: nobody is told."""
        if len(heard) < 3:
            guard._triggered = True

    guard.trigger()
    for _ in range(4):
        executor.spin_once(timeout_sec=0.0)
    assert heard == [1, 1, 1]
