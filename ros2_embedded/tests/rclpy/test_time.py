"""Time, clocks, timers and simulated time."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from rosgraph_msgs.msg import Clock as ClockMsg

from rclpy.clock import Clock, ROSClock
from rclpy.clock_type import ClockType
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.time import Time

Spin = Callable[..., None]


def test_arithmetic() -> None:
    start = Time(seconds=10, nanoseconds=5, clock_type=ClockType.ROS_TIME)
    later = start + Duration(seconds=1.5)
    assert later.seconds_nanoseconds() == (11, 500_000_005)
    assert later - start == Duration(nanoseconds=1_500_000_000)
    assert later - Duration(seconds=1.5) == start
    assert later > start
    assert Time.from_msg(later.to_msg()) == later
    assert Duration.from_msg(Duration(seconds=-1.5).to_msg()) == Duration(seconds=-1.5)
    with pytest.raises(TypeError):
        assert start < Time(seconds=1)
    with pytest.raises(ValueError, match="negative"):
        Time(seconds=-1)


def test_clock_kinds() -> None:
    assert isinstance(Clock(clock_type=ClockType.ROS_TIME), ROSClock)
    assert Clock(clock_type=ClockType.STEADY_TIME).now().clock_type == ClockType.STEADY_TIME
    assert ROSClock().now().nanoseconds > 10**18


def test_timer_calls_and_cancels(node: Node, spin: Spin) -> None:
    calls: list[int] = []
    timer = node.create_timer(0.005, lambda: calls.append(1))
    spin(lambda: len(calls) >= 3)
    timer.cancel()
    assert timer.is_canceled()
    assert timer.time_until_next_call() is None
    timer.reset()
    spin(lambda: len(calls) >= 4)


@pytest.fixture
def set_clock(node: Node, spin: Spin) -> Callable[[float], None]:
    """Switch the node to simulated time; the function sets it in seconds."""
    publisher = node.create_publisher(ClockMsg, "/clock", QoSProfile(depth=1))
    assert node.set_parameters([Parameter("use_sim_time", value=True)])[0].successful

    def set_(seconds: float) -> None:
        time = Time(seconds=seconds)
        publisher.publish(ClockMsg(clock=time.to_msg()))
        spin(lambda: node.get_clock().now().nanoseconds == time.nanoseconds)

    return set_


def test_timers_follow_simulated_time(node: Node, spin: Spin, set_clock: Callable[[float], None]) -> None:
    assert node.get_clock().now().nanoseconds == 0
    set_clock(100.0)
    calls: list[float] = []
    node.create_timer(1.0, lambda: calls.append(node.get_clock().now().nanoseconds / 1e9))
    for seconds in (100.5, 101.0, 101.5, 102.0):
        set_clock(seconds)
        spin(lambda: True)
    spin(lambda: len(calls) == 2)
    assert calls == [101.0, 102.0]


def test_a_clock_before_its_beginning_is_not_heard(
    node: Node, spin: Spin, set_clock: Callable[[float], None]
) -> None:
    set_clock(500.0)
    heard: list[int] = []
    node.create_subscription(ClockMsg, "/clock", lambda message: heard.append(message.clock.sec), 10)
    publisher = node.create_publisher(ClockMsg, "/clock", QoSProfile(depth=10))
    for sec in (-1, -(2**31)):
        message = ClockMsg()
        message.clock.sec = sec
        publisher.publish(message)
        spin(lambda sec=sec: sec in heard)
        assert node.get_clock().now().nanoseconds == 500 * 10**9
    set_clock(501.0)


def test_time_may_jump_back(node: Node, spin: Spin, set_clock: Callable[[float], None]) -> None:
    set_clock(500.0)
    calls: list[int] = []
    node.create_timer(1.0, lambda: calls.append(1))
    set_clock(10.0)
    set_clock(10.5)
    assert calls == []
    set_clock(11.0)
    spin(lambda: len(calls) == 1)


def test_use_sim_time_must_be_a_bool(node: Node) -> None:
    assert not node.set_parameters([Parameter("use_sim_time", value=3)])[0].successful
    assert node.set_parameters([Parameter("use_sim_time", value=True)])[0].successful
    assert node.set_parameters([Parameter("use_sim_time", value=False)])[0].successful
    assert node.get_clock().now().nanoseconds > 0
