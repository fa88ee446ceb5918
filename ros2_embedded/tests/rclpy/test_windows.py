"""What happens between two instants: each test forces one order of events that chance gives seldom."""

from __future__ import annotations

import contextlib
import gc
import subprocess
import sys
import threading
from typing import Any

import pytest
from action_msgs.msg import GoalInfo, GoalStatus
from example_interfaces.action import Fibonacci
from std_msgs.msg import String
from std_srvs.srv import Trigger

import rclpy
from rclpy.action import ActionServer
from rclpy.action.goal_state import GoalEvent
from rclpy.action.server import ServerGoalHandle
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from rclpy.context import Context
from rclpy.duration import Duration
from rclpy.exceptions import InvalidHandle
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.impl.errors import RCLError
from rclpy.node import Node
from rclpy.task import Future

PATIENCE_S = 60.0


def until_shutdown(executor: Any) -> threading.Thread:
    """Spin in another thread."""

    def spin() -> None:
        try:
            executor.spin()
        except ExternalShutdownException:
            return

    thread = threading.Thread(target=spin)
    thread.start()
    return thread


def answer(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
    """Agree."""
    response.success = True
    return response


def test_request_that_comes_before_the_server_spins(node: Node) -> None:
    client = node.create_client(Trigger, "late")
    node.create_service(Trigger, "late", answer)
    future = client.call_async(Trigger.Request())  # nobody spins yet
    rclpy.spin_until_future_complete(node, future, timeout_sec=PATIENCE_S)
    assert future.result().success


def test_answer_that_comes_after_the_caller_gave_up(node: Node) -> None:
    gave_up = threading.Event()
    served: list[int] = []

    def serve(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        served.append(len(served))
        if len(served) == 1:
            assert gave_up.wait(PATIENCE_S)
        response.message = str(len(served))
        return response

    group = ReentrantCallbackGroup()
    node.create_service(Trigger, "slow", serve, callback_group=group)
    client = node.create_client(Trigger, "slow", callback_group=group)
    executor = MultiThreadedExecutor(3)
    executor.add_node(node)
    thread = until_shutdown(executor)
    assert client.call(Trigger.Request(), timeout_sec=0.01) is None
    gave_up.set()
    assert client.call(Trigger.Request(), PATIENCE_S).message == "2"
    assert client._pending == {}
    executor.shutdown()
    thread.join()


def test_caller_that_waits_while_the_context_ends(node: Node) -> None:
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    thread = until_shutdown(executor)
    client = node.create_client(Trigger, "nobody")
    answers: list[Any] = []
    caller = threading.Thread(target=lambda: answers.append(client.call(Trigger.Request())))
    caller.start()
    node.context.try_shutdown()
    caller.join(PATIENCE_S)
    thread.join(PATIENCE_S)
    assert not caller.is_alive()
    assert answers in ([None], [])  # no call at all when the context ended first


def test_context_that_ends_while_a_service_works(node: Node) -> None:
    def serve(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        node.context.try_shutdown()
        return response

    node.create_service(Trigger, "last", serve)
    node.create_client(Trigger, "last").call_async(Trigger.Request())
    rclpy.spin(node)  # no error comes out of the answer that nobody can get


def test_publishing_and_calling_after_the_end(node: Node) -> None:
    publisher = node.create_publisher(String, "gone", 10)
    client = node.create_client(Trigger, "gone")
    node.context.try_shutdown()
    with pytest.raises(RCLError, match="cannot publish on /gone"):
        publisher.publish(String())
    with pytest.raises(RCLError, match="cannot call /gone"):
        client.call_async(Trigger.Request())
    node.get_logger().info("logging the end must not fail")


def test_node_removed_while_another_callback_of_it_is_due(node: Node) -> None:
    called: list[str] = []
    executor = SingleThreadedExecutor()

    def leave() -> None:
        called.append("first")
        executor.remove_node(node)

    first = node.create_guard_condition(leave)
    second = node.create_guard_condition(lambda: called.append("second"))
    executor.add_node(node)
    first.trigger()
    second.trigger()
    executor.spin_once(timeout_sec=PATIENCE_S)
    executor.spin_once(timeout_sec=0.0)
    assert called == ["first"]
    other = SingleThreadedExecutor()
    other.add_node(node)
    other.spin_once(timeout_sec=PATIENCE_S)
    assert called == ["first", "second"]


def test_entity_destroyed_while_its_callback_waits_for_a_thread(node: Node) -> None:
    busy, go_on = threading.Event(), threading.Event()
    called: list[str] = []

    def block() -> None:
        busy.set()
        assert go_on.wait(PATIENCE_S)

    group = ReentrantCallbackGroup()
    first = node.create_guard_condition(block, callback_group=group)
    second = node.create_guard_condition(lambda: called.append("second"), callback_group=group)
    third = node.create_guard_condition(lambda: called.append("third"), callback_group=group)
    with pytest.warns(UserWarning, match="one thread"):
        executor = MultiThreadedExecutor(1)
    executor.add_node(node)
    first.trigger()
    executor.spin_once(timeout_sec=PATIENCE_S)
    assert busy.wait(PATIENCE_S)
    second.trigger()
    executor.spin_once(timeout_sec=PATIENCE_S)  # handed to the only thread, which is busy
    node.destroy_guard_condition(second)
    third.trigger()
    executor.spin_once(timeout_sec=PATIENCE_S)
    go_on.set()
    executor.shutdown()
    assert called == ["third"]


def test_goal_cancelled_while_it_starts(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    server = ActionServer(node, Fibonacci, "late", lambda _: Fibonacci.Result())
    handle = ServerGoalHandle(server, GoalInfo(), Fibonacci.Goal())

    came = threading.Event()
    """The cancellation has been done, or stands before a lock and will be done when it opens."""

    def cancel() -> None:
        if not handle._lock.acquire(blocking=False):
            came.set()
            handle._lock.acquire()
        try:
            handle._update(GoalEvent.CANCEL_GOAL)
        finally:
            handle._lock.release()
            came.set()

    canceler = threading.Thread(target=cancel)

    def look(self: ServerGoalHandle) -> bool:
        is_requested = self.status == GoalStatus.STATUS_CANCELING
        canceler.start()
        assert came.wait(PATIENCE_S)
        return is_requested

    monkeypatch.setattr(ServerGoalHandle, "is_cancel_requested", property(look))
    handle.execute()
    canceler.join()
    assert handle.status == GoalStatus.STATUS_CANCELING


class FreedInBetween(MutuallyExclusiveCallbackGroup):
    """A group that is taken at the first look and free at the next, without anybody waking the executor."""

    def __init__(self) -> None:
        super().__init__()
        self.looks = 0

    def beginning_execution(self, entity: Any) -> bool:
        self.looks += 1
        return self.looks > 1 and super().beginning_execution(entity)


def test_group_freed_between_the_look_and_the_sleep(node: Node) -> None:
    called: list[int] = []
    guard = node.create_guard_condition(lambda: called.append(1), callback_group=FreedInBetween())
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    guard.trigger()
    executor.spin_once(timeout_sec=PATIENCE_S)
    assert called == [1]


def test_message_that_waits_for_its_group(node: Node) -> None:
    heard: list[str] = []
    busy, go_on, done = threading.Event(), threading.Event(), threading.Event()

    def hear(message: String) -> None:
        heard.append(message.data)
        if message.data == "first":
            busy.set()
            assert go_on.wait(PATIENCE_S)
        else:
            done.set()

    node.create_subscription(String, "words", hear, 10)
    publisher = node.create_publisher(String, "words", 10)
    executor = MultiThreadedExecutor(2)
    executor.add_node(node)
    thread = until_shutdown(executor)
    publisher.publish(String(data="first"))
    assert busy.wait(PATIENCE_S)
    publisher.publish(String(data="second"))
    go_on.set()  # the end of the first callback must wake the executor, which may sleep by now
    assert done.wait(PATIENCE_S)
    executor.shutdown()
    thread.join()
    assert heard == ["first", "second"]


def test_context_that_a_daemon_thread_closes_while_the_program_ends() -> None:
    program = (
        "import threading, time, rclpy\n"
        "context = rclpy.init(args=[])\n"
        "node = rclpy.create_node('ending')\n"
        "close, begun = context.session.close, threading.Event()\n"
        "def slow():\n"
        "    begun.set()\n"
        "    time.sleep(0.3)\n"
        "    close()\n"
        "context.session.close = slow\n"
        "threading.Thread(target=context.try_shutdown, daemon=True).start()\n"
        "begun.wait()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_waiting_leaves_nothing_behind(context: Context, node: Node) -> None:
    """Each sleep, call and spin registers something to be woken by: it must go with them."""
    clock, never = node.get_clock(), Future[int]()
    client = node.create_client(Trigger, "nobody")
    executor = SingleThreadedExecutor()
    executor.add_node(node)

    def wait() -> None:
        clock.sleep_for(Duration(nanoseconds=1))
        client.call(Trigger.Request(), timeout_sec=0.0)
        executor.spin_until_future_complete(never, timeout_sec=0.0)
        executor.spin_once_until_future_complete(never, timeout_sec=0.0)
        SingleThreadedExecutor()

    def sizes() -> tuple[int, int, int]:
        gc.collect()
        return len(context._callbacks), len(never._callbacks), len(client._pending)

    wait()
    before = sizes()
    for _ in range(20):
        wait()

    assert sizes() == before


def test_entities_made_while_their_node_is_destroyed_leave_the_graph(context: rclpy.Context) -> None:
    def make(node: Node, begins: threading.Event) -> None:
        begins.set()
        with contextlib.suppress(InvalidHandle):
            for number in range(6):
                node.create_subscription(String, f"heard{number}", lambda message: None, 1)
                node.create_publisher(String, f"said{number}", 1)

    for number in range(20):
        node = Node(f"short{number}", start_parameter_services=False, enable_rosout=False)
        begins = threading.Event()
        maker = threading.Thread(target=make, args=(node, begins))
        maker.start()
        begins.wait()
        node.destroy_node()
        maker.join()
    session = context.session
    assert [record.name for record in session.graph.endpoints() if record.node.session == session.id] == []
