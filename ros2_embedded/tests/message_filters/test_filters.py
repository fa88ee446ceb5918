"""Filters of messages: by equal time, by close times, and a history that is searched by time."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from geometry_msgs.msg import PointStamped
from std_msgs.msg import String

import rclpy
from message_filters import ApproximateTimeSynchronizer, Cache, SimpleFilter, Subscriber, TimeSynchronizer
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.time import Time


def at(seconds: float, name: str = "") -> Any:
    """A message with a time [s]."""
    message = PointStamped()
    message.header.stamp = Time(seconds=seconds).to_msg()
    message.header.frame_id = name
    return message


def names(sets: list[tuple[Any, ...]]) -> list[tuple[str, ...]]:
    """The names of the messages of sets."""
    return [tuple(message.header.frame_id for message in one) for one in sets]


@pytest.fixture
def node() -> Iterator[Node]:
    rclpy.init()
    node = rclpy.create_node("filters")
    yield node
    node.destroy_node()
    rclpy.shutdown()


def test_messages_of_one_time_come_together_in_any_order() -> None:
    left, right = SimpleFilter(), SimpleFilter()
    together = TimeSynchronizer([left, right], 10)
    got: list[tuple[Any, ...]] = []
    together.registerCallback(lambda *messages: got.append(messages))
    order = random.Random(0)
    for time in order.sample(range(10), 10):
        left.signalMessage(at(time, f"l{time}"))
    assert got == []
    for time in order.sample(range(10), 10):
        right.signalMessage(at(time, f"r{time}"))
    assert sorted(names(got)) == [(f"l{time}", f"r{time}") for time in range(10)]


def test_a_message_of_a_time_before_zero_is_left_out() -> None:
    source, early = SimpleFilter(), at(0.0)
    early.header.stamp.sec = -1
    cache = Cache(source, 5)
    TimeSynchronizer([source], 5)
    ApproximateTimeSynchronizer([source], 5, 0.1)
    source.signalMessage(early)
    source.signalMessage(at(2.0))
    assert [message.header.stamp.sec for message in cache.cache_msgs] == [2]


def test_a_full_queue_loses_its_oldest_message() -> None:
    left, right = SimpleFilter(), SimpleFilter()
    together = TimeSynchronizer([left, right], 2)
    got: list[tuple[Any, ...]] = []
    together.registerCallback(lambda *messages: got.append(messages))
    for time in (0, 1, 2):
        left.signalMessage(at(time, f"l{time}"))
    for time in (0, 1, 2):
        right.signalMessage(at(time, f"r{time}"))
    assert names(got) == [("l1", "r1"), ("l2", "r2")]


def test_callbacks_get_their_own_arguments_after_the_messages() -> None:
    source = SimpleFilter()
    got: list[tuple[Any, ...]] = []
    source.registerCallback(lambda *arguments: got.append(arguments), "a", 5)
    source.signalMessage("m")
    assert got == [("m", "a", 5)]


def test_close_times_come_together_with_the_closest_first() -> None:
    left, middle, right = SimpleFilter(), SimpleFilter(), SimpleFilter()
    together = ApproximateTimeSynchronizer([left, middle, right], 5, 0.1)
    got: list[tuple[Any, ...]] = []
    together.registerCallback(lambda *messages: got.append(messages))
    right.signalMessage(at(1.04, "r far"))
    right.signalMessage(at(1.01, "r near"))
    left.signalMessage(at(0.98, "l"))
    left.signalMessage(at(5.0, "l late"))
    assert got == []
    middle.signalMessage(at(1.0, "m"))
    assert names(got) == [("l", "m", "r near")]
    middle.signalMessage(at(1.2, "m alone"))
    assert len(got) == 1


def test_a_spread_of_all_the_slop_is_too_wide() -> None:
    left, middle, right = SimpleFilter(), SimpleFilter(), SimpleFilter()
    together = ApproximateTimeSynchronizer([left, middle, right], 5, 0.5)
    got: list[tuple[Any, ...]] = []
    together.registerCallback(lambda *messages: got.append(messages))
    left.signalMessage(at(1.0, "l"))
    right.signalMessage(at(1.75, "r"))
    middle.signalMessage(at(1.4, "m"))
    assert got == []
    right.signalMessage(at(1.25, "r2"))
    assert names(got) == [("l", "m", "r2")]


def test_messages_without_a_header_are_taken_when_allowed() -> None:
    left, right = SimpleFilter(), SimpleFilter()
    got: list[tuple[Any, ...]] = []
    ApproximateTimeSynchronizer([left, right], 5, 60.0).registerCallback(lambda *m: got.append(m))
    left.signalMessage(String(data="a"))
    right.signalMessage(String(data="b"))
    assert got == []
    ApproximateTimeSynchronizer([left, right], 5, 60.0, allow_headerless=True).registerCallback(
        lambda *m: got.append(m)
    )
    left.signalMessage(String(data="a"))
    right.signalMessage(String(data="b"))
    assert got == [(String(data="a"), String(data="b"))]


def test_a_cache_is_searched_by_time() -> None:
    source = SimpleFilter()
    cache = Cache(source, 5)
    passed_on: list[Any] = []
    cache.registerCallback(passed_on.append)
    assert cache.getLast() is None
    assert cache.getOldestTime() is None
    for time in range(6):
        source.signalMessage(at(time, str(time)))
    assert len(passed_on) == 6
    within = cache.getInterval(Time(seconds=2), Time(seconds=3.5))
    assert [message.header.frame_id for message in within] == ["2", "3"]
    assert cache.getElemAfterTime(Time(seconds=0.5)).header.frame_id == "1"
    assert cache.getElemBeforeTime(Time(seconds=3.5)).header.frame_id == "3"
    assert cache.getElemAfterTime(Time(seconds=9)) is None
    assert cache.getElemBeforeTime(Time(seconds=0.5)) is None
    assert cache.getLatestTime() == cache.getLastestTime() == Time.from_msg(at(5).header.stamp)
    assert cache.getOldestTime() == Time.from_msg(at(1).header.stamp)
    assert cache.getLast().header.frame_id == "5"


def test_a_cache_keeps_headerless_messages_when_allowed() -> None:
    strict, loose = Cache(None, 3), Cache(None, 3, allow_headerless=True)
    strict.add(String(data="a"))
    loose.add(String(data="a"))
    assert strict.getLast() is None
    assert loose.getLast() == String(data="a")


def test_a_chain_begins_with_subscriptions(node: Node) -> None:
    left = Subscriber(node, PointStamped, "left")
    right = Subscriber(node, PointStamped, "right", qos_profile=QoSProfile(depth=3))
    together = ApproximateTimeSynchronizer([Cache(left, 5), right], 10, 0.1)
    got: list[tuple[Any, ...]] = []
    together.registerCallback(lambda *messages: got.append(messages))
    assert (left.getTopic(), left.topic_name) == ("left", "/left")
    assert right.qos_profile.depth == 3
    publishers = [node.create_publisher(PointStamped, name, 10) for name in ("left", "right")]
    for publisher, name in zip(publishers, ("l", "r"), strict=True):
        publisher.publish(at(1.0, name))
    for _ in range(400):
        if got:
            break
        rclpy.spin_once(node, timeout_sec=0.1)
    assert names(got) == [("l", "r")]
