"""Futures, tasks, waitables and what executors do with them."""

from __future__ import annotations

import asyncio
import threading

import pytest
from std_msgs.msg import Empty

import rclpy
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor, ShutdownException, SingleThreadedExecutor
from rclpy.experimental import EventsExecutor
from rclpy.task import Future, Task
from rclpy.waitable import NumberOfEntities, Waitable

EXECUTORS = [SingleThreadedExecutor, MultiThreadedExecutor, EventsExecutor]


class TestFuture:
    def test_result_and_exception(self):
        future = Future()
        assert not future.done()
        assert future.result() is None
        future.set_result(5)
        assert (future.done(), future.result(), future.exception()) == (True, 5, None)
        failed = Future()
        failed.set_exception(KeyError("x"))
        assert isinstance(failed.exception(), KeyError)
        with pytest.raises(KeyError):
            failed.result()

    def test_cancelled_is_not_done(self):
        future = Future()
        future.cancel()
        assert future.cancelled()
        assert not future.done()
        future.set_result(None)
        assert future.done()

    def test_callbacks(self):
        seen = []
        future = Future()
        future.add_done_callback(seen.append)
        future.set_result(1)
        future.add_done_callback(seen.append)
        assert seen == [future, future]
        other = Future()
        other.add_done_callback(seen.append)
        assert other.remove_done_callback(seen.append)
        assert not other.remove_done_callback(seen.append)

    def test_await(self):
        future = Future()

        async def wait():
            return await future

        task = Task(wait)
        task()
        assert not task.done()
        future.set_result("x")
        task()
        assert task.result() == "x"


class TestTask:
    def test_function(self):
        task = Task(lambda a, b: a + b, (1, 2))
        task()
        assert task.result() == 3
        assert not task.executing()

    def test_error(self):
        def fail():
            raise ValueError("no")

        task = Task(fail)
        task()
        assert isinstance(task.exception(), ValueError)

    def test_cancelling_reaches_the_coroutine(self):
        seen = []

        async def wait():
            try:
                await Future()
            except asyncio.CancelledError:
                seen.append("cancelled")
                raise

        task = Task(wait)
        task()
        task.cancel()
        assert task.cancelled()
        assert seen == ["cancelled"]


@pytest.mark.parametrize("kind", EXECUTORS)
class TestExecutors:
    def test_tasks_run(self, context, kind):
        executor = kind()

        async def compute(a, *, b):
            return a + b

        task = executor.create_task(compute, 1, b=2)
        executor.spin_until_future_complete(task)
        assert task.result() == 3
        executor.shutdown()

    def test_a_future_of_the_executor_wakes_it(self, context, kind):
        executor = kind()
        future = executor.create_future()
        threading.Timer(0.01, future.set_result, [1]).start()
        executor.spin_until_future_complete(future)
        assert future.result() == 1
        executor.shutdown()

    def test_nodes_are_added_once(self, node, kind):
        executor = kind()
        assert executor.add_node(node)
        assert not executor.add_node(node)
        assert node.executor is executor
        executor.remove_node(node)
        assert node.executor is None
        executor.shutdown()

    def test_guard_conditions(self, node, kind):
        executor = kind()
        executor.add_node(node)
        done = executor.create_future()

        async def set_result():
            done.set_result(True)

        node.create_guard_condition(set_result).trigger()
        executor.spin_until_future_complete(done)
        assert done.result()
        executor.shutdown()

    def test_a_shut_down_executor_does_not_wait(self, context, kind):
        executor = kind()
        executor.shutdown()
        with pytest.raises(ShutdownException):
            executor.wait_for_ready_callbacks()

    def test_shutdown_inside_a_callback_ends_spin(self, node, kind):
        executor = kind()
        executor.add_node(node)
        node.create_guard_condition(executor.shutdown).trigger()
        thread = threading.Thread(target=executor.spin)
        thread.start()
        thread.join(90)
        assert not thread.is_alive()

    def test_an_error_in_a_callback_reaches_the_spinner(self, node, kind):
        executor = kind()
        executor.add_node(node)

        def fail():
            raise LookupError("here")

        node.create_guard_condition(fail).trigger()
        with pytest.raises(LookupError, match="here"):
            executor.spin_until_future_complete(executor.create_future())
        executor.shutdown()


def test_one_thread_is_warned_about(context):
    with pytest.warns(UserWarning, match="thread"):
        MultiThreadedExecutor(num_threads=1).shutdown()


def test_ready_callbacks_name_their_task_entity_and_node(node):
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    guard = node.create_guard_condition(lambda: None)
    guard.trigger()
    task, entity, owner = executor.wait_for_ready_callbacks()
    assert isinstance(task, Task)
    assert (entity, owner) == (guard, node)
    executor.shutdown()


class TestCallbackGroups:
    def test_entities_belong_to_the_group_they_are_given(self, node):
        group = ReentrantCallbackGroup()
        timer = node.create_timer(1000.0, lambda: None, callback_group=group)
        assert group.has_entity(timer)
        assert not node.default_callback_group.has_entity(timer)

    def test_what_may_run_together(self, node):
        exclusive, reentrant = MutuallyExclusiveCallbackGroup(), ReentrantCallbackGroup()
        for group, second in ((exclusive, False), (reentrant, True)):
            one = node.create_guard_condition(lambda: None, callback_group=group)
            other = node.create_guard_condition(lambda: None, callback_group=group)
            assert group.beginning_execution(one)
            assert group.can_execute(other) is second
            group.ending_execution(one)
            assert group.can_execute(other)


class TestWaitables:
    def test_a_waitable_is_asked_and_executed(self, node, spin):
        class Hears(Waitable):
            def __init__(self):
                super().__init__(ReentrantCallbackGroup())
                self.guard = node.create_guard_condition(None)
                self.ready = False
                self.index = None
                self.seen = []

            def add_to_wait_set(self, wait_set):
                self.index = wait_set.add_guard_condition(self.guard)

            def is_ready(self, wait_set):
                self.ready = self.ready or wait_set.is_ready("guard_condition", self.index)
                return self.ready

            def take_data(self):
                self.ready = False
                return "data"

            async def execute(self, taken_data):
                self.seen.append(taken_data)

            def get_num_entities(self):
                return NumberOfEntities(num_guard_conditions=1)

        waitable = Hears()
        node.add_waitable(waitable)
        assert waitable in list(node.waitables)
        waitable.ready = True
        waitable.guard.trigger()
        spin(lambda: waitable.seen)
        assert set(waitable.seen) == {"data"}
        node.remove_waitable(waitable)
        assert waitable not in list(node.waitables)

    def test_the_base_class_leaves_all_to_others(self):
        base = Waitable(None)
        for call in (base.take_data, base.get_num_entities):
            with pytest.raises(NotImplementedError):
                call()

    def test_numbers_add_up(self):
        total = NumberOfEntities(num_timers=1) + NumberOfEntities(num_timers=2, num_clients=1)
        total += NumberOfEntities(num_clients=3)
        assert total == NumberOfEntities(num_timers=3, num_clients=4)


class TestSpinFunctions:
    def test_a_node_stays_with_the_executor_it_had(self, node):
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        rclpy.spin_once(node, executor=executor, timeout_sec=0)
        assert node.executor is executor
        executor.shutdown()

    def test_a_node_is_given_back(self, node):
        rclpy.spin_once(node, timeout_sec=0)
        assert node not in rclpy.get_global_executor().get_nodes()

    def test_until_a_future_is_complete(self, node):
        future = Future()
        node.create_guard_condition(lambda: future.set_result(1)).trigger()
        rclpy.spin_until_future_complete(node, future)
        assert future.result() == 1

    def test_until_time_is_over(self, node):
        rclpy.spin_until_future_complete(node, Future(), timeout_sec=0.0)


class TestSubscriptionCallbacks:
    def test_they_take_one_or_two_arguments(self, node):
        for good in (lambda message: None, lambda message, info: None, lambda *everything: None):
            node.create_subscription(Empty, "a", good, 1)
        for bad in (lambda: None, lambda a, b, c: None):
            with pytest.raises(RuntimeError, match="callback"):
                node.create_subscription(Empty, "a", bad, 1)

    def test_the_second_is_about_the_message(self, node, spin):
        seen = []
        node.create_subscription(Empty, "info", lambda message, info: seen.append(info), 1)
        publisher = node.create_publisher(Empty, "info", 1)
        spin(lambda: publisher.publish(Empty()) or seen)
        assert seen[0]["received_timestamp"] >= seen[0]["source_timestamp"] > 0
