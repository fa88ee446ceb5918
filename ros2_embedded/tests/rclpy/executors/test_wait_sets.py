"""Entities of `rclpy._rclpy_pybind11` in waitables and wait sets, and the functions of handles."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import pytest
from std_msgs.msg import Empty, String
from std_srvs.srv import Trigger

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ROSClock
from rclpy.clock_type import ClockType
from rclpy.event_handler import QoSPublisherEventType, QoSSubscriptionEventType
from rclpy.exceptions import InvalidHandle
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.impl.wait_set import WaitSet
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.time import Time
from rclpy.timer import Timer
from rclpy.waitable import NumberOfEntities, Waitable

PROFILE = QoSProfile(depth=10).get_c_qos_profile()
SECOND_NS = 1_000_000_000


class Takes(Waitable):
    """Waits for one entity and keeps what a function takes from it."""

    def __init__(self, kind: str, entity: Any, take: Callable[[], Any]) -> None:
        super().__init__(ReentrantCallbackGroup())
        self.kind, self.entity, self._take = kind, entity, take
        self.index = -1
        self.seen: list[Any] = []

    def add_to_wait_set(self, wait_set: Any) -> None:
        self.index = getattr(wait_set, f"add_{self.kind}")(self.entity)

    def is_ready(self, wait_set: Any) -> bool:
        return bool(wait_set.is_ready(self.kind, self.index))

    def take_data(self) -> Any:
        return self._take()

    async def execute(self, taken_data: Any) -> None:
        self.seen.append(taken_data)

    def get_num_entities(self) -> NumberOfEntities:
        return NumberOfEntities()


def test_waitable_with_a_subscription(node: Node, spin: Callable[..., None]) -> None:
    heard = _rclpy.Subscription(node.handle, String, "~/words", PROFILE)
    assert heard.get_topic_name() == "/tester/words"
    waitable = Takes("subscription", heard, lambda: heard.take_message(String, False))
    node.add_waitable(waitable)
    publisher = node.create_publisher(String, "~/words", 1)
    assert heard.get_publisher_count() == 1
    publisher.publish(String(data="a"))
    spin(lambda: waitable.seen)
    message, info = waitable.seen[0]
    assert message == String(data="a")
    assert info["source_timestamp"] > 0
    assert heard.take_message(String, False) is None


def test_waitables_with_a_service_and_a_client(node: Node, spin: Callable[..., None]) -> None:
    service = _rclpy.Service(node.handle, Trigger, "ask", PROFILE)
    client = _rclpy.Client(node.handle, Trigger, "ask", PROFILE)
    assert client.take_response(Trigger.Response) == (None, None)
    assert service.service_take_request(Trigger.Request) == (None, None)
    asked = Takes("service", service, lambda: service.service_take_request(Trigger.Request))
    answered = Takes("client", client, lambda: client.take_response(Trigger.Response))
    node.add_waitable(asked)
    node.add_waitable(answered)
    spin(client.service_server_is_available)
    number = client.send_request(Trigger.Request())
    spin(lambda: asked.seen)
    request, header = asked.seen[0]
    assert isinstance(request, Trigger.Request)
    assert header.source_timestamp > 0
    service.service_send_response(Trigger.Response(message="yes"), header)
    spin(lambda: answered.seen)
    header, response = answered.seen[0]
    assert (header.request_id.sequence_number, response.message) == (number, "yes")


def test_waitable_with_a_timer_wakes_the_executor(node: Node, spin: Callable[..., None]) -> None:
    clock = Clock(clock_type=ClockType.STEADY_TIME)
    timer = _rclpy.Timer(clock.handle, node.context.handle, 10_000)
    waitable = Takes("timer", timer, timer.call_timer)
    node.add_waitable(waitable)
    node.executor.spin_once()  # without a timeout: the timer alone ends the wait
    spin(lambda: len(waitable.seen) > 1)


def test_waitable_with_a_guard_condition(node: Node) -> None:
    guard = _rclpy.GuardCondition(node.context.handle)
    waitable = Takes("guard_condition", guard, lambda: guard._owner.take())
    node.add_waitable(waitable)
    executor = node.executor
    executor.spin_once(timeout_sec=0)
    threading.Timer(0.05, guard.trigger_guard_condition).start()
    while not waitable.seen:
        executor.spin_once()


@pytest.fixture(autouse=True)
def spun(node: Node, spin: Callable[..., None]) -> None:
    """The node has an executor."""


def test_wait_set_of_a_program(node: Node) -> None:
    subscription = node.create_subscription(String, "words", lambda message: None, 1)
    publisher = node.create_publisher(String, "words", 1)
    guard = _rclpy.GuardCondition(node.context.handle)
    waiting = _rclpy.WaitSet(1, 1, 1, 0, 0, 0, node.context.handle)
    index = waiting.add_subscription(subscription.handle)
    other = waiting.add_guard_condition(guard)
    waiting.wait(0)
    assert not waiting.is_ready("subscription", index)
    threading.Timer(0.05, publisher.publish, [String(data="a")]).start()
    waiting.wait(-1)
    assert waiting.is_ready("subscription", index)
    assert waiting.get_ready_entities("subscription") == [subscription.handle.pointer]
    assert not waiting.is_ready("guard_condition", other)
    message, _ = subscription.handle.take_message(String, False)
    assert message.data == "a"
    guard.trigger_guard_condition()
    waiting.wait(SECOND_NS)
    assert waiting.is_ready("guard_condition", other)
    waiting.wait(0)
    assert not waiting.is_ready("guard_condition", other)
    waiting.clear_entities()
    timer = node.create_timer(0.01, None)
    due = waiting.add_timer(timer.handle)
    waiting.wait(-1)
    assert waiting.is_ready("timer", due)
    assert timer.handle.is_timer_ready()


def test_a_wait_for_simulated_time_does_not_poll(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = ROSClock()
    clock.set_ros_time_override(Time(seconds=1, clock_type=ClockType.ROS_TIME))
    clock._set_ros_time_is_active(True)
    timer = node.create_timer(1e-6, lambda: None, clock=clock)
    wait_set = WaitSet()
    wait_set.add_timer(timer)
    asked: list[Timer] = []
    is_pending: Callable[[Timer], bool] = Timer.is_pending
    monkeypatch.setattr(Timer, "is_pending", lambda self: asked.append(self) or is_pending(self))
    wait_set.wait(SECOND_NS // 10)
    assert len(asked) <= 2
    later = Time(seconds=2, clock_type=ClockType.ROS_TIME)
    setter = threading.Timer(0.05, lambda: clock.set_ros_time_override(later))
    setter.start()
    wait_set.wait(60 * SECOND_NS)
    assert wait_set.is_ready("timer", 0)
    setter.join()


def test_events_never_come(node: Node) -> None:
    publisher = node.create_publisher(Empty, "nothing", 1)
    subscription = node.create_subscription(Empty, "nothing", lambda message: None, 1)
    waiting = _rclpy.WaitSet(0, 0, 0, 0, 0, 2, node.context.handle)
    missed = _rclpy.EventHandle(publisher.handle, QoSPublisherEventType.RCL_PUBLISHER_OFFERED_DEADLINE_MISSED)
    changed = _rclpy.EventHandle(
        subscription.handle, QoSSubscriptionEventType.RCL_SUBSCRIPTION_LIVELINESS_CHANGED
    )
    indices = [waiting.add_event(event) for event in (missed, changed)]
    waiting.wait(0)
    assert not any(waiting.is_ready("event", index) for index in indices)
    assert missed.take_event().total_count == 0
    assert changed.take_event().alive_count == 0
    missed.destroy_when_not_in_use()
    with pytest.raises(InvalidHandle), missed:
        pass
    with pytest.raises(_rclpy.UnsupportedEventTypeError):
        _rclpy.EventHandle(publisher.handle, QoSPublisherEventType.RCL_PUBLISHER_INCOMPATIBLE_TYPE)


def test_functions_called_when_something_comes(node: Node, spin: Callable[..., None]) -> None:
    told: list[int] = []
    subscription = node.create_subscription(Empty, "topic", lambda message: None, 5)
    publisher = node.create_publisher(Empty, "topic", 5)
    publisher.publish(Empty())
    subscription.handle.set_on_new_message_callback(told.append)
    publisher.publish(Empty())
    assert told == [1, 1]
    subscription.handle.clear_on_new_message_callback()
    publisher.publish(Empty())
    assert told == [1, 1]
    service = node.create_service(Trigger, "ask", lambda request, response: response)
    client = node.create_client(Trigger, "ask")
    client.wait_for_service()
    asked: list[int] = []
    answered: list[int] = []
    service.handle.set_on_new_request_callback(asked.append)
    client.handle.set_on_new_response_callback(answered.append)
    future = client.call_async(Trigger.Request())
    spin(future.done)
    assert (asked, answered) == ([1], [1])
    service.handle.clear_on_new_request_callback()
    client.handle.clear_on_new_response_callback()
    spin(client.call_async(Trigger.Request()).done)
    assert (asked, answered) == ([1], [1])
    timer = node.create_timer(60.0, None)
    timer.handle.set_on_reset_callback(told.append)
    timer.reset()
    timer.handle.clear_on_reset_callback()
    timer.reset()
    assert told == [1, 1, 1]


def test_entities_go_with_their_handles(node: Node) -> None:
    heard = _rclpy.Subscription(node.handle, Empty, "topic", PROFILE)
    assert node.count_subscribers("topic") == 1
    del heard
    gc.collect()
    assert node.count_subscribers("topic") == 0


def test_a_handle_in_use_outlives_its_node(node: Node) -> None:
    other = Node("other")
    with other.handle:
        other.destroy_node()
        with other.handle:
            pass
    with pytest.raises(InvalidHandle), other.handle:
        pass
