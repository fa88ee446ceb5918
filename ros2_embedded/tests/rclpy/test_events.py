"""Events of publishers and subscriptions: matched endpoints, lost messages."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from std_msgs.msg import Bool, String

from rclpy.event_handler import (
    MatchedInfo,
    MessageLostInfo,
    PublisherEventCallbacks,
    SubscriptionEventCallbacks,
)
from rclpy.node import Node
from ros2_embedded.rosidl.classes import serialize
from ros2_embedded.wire.keys import encode_attachment


def test_publisher_is_told_of_subscriptions(node: Node, spin: Callable[..., None]) -> None:
    events: list[MatchedInfo] = []
    callbacks = PublisherEventCallbacks(matched=events.append)
    publisher = node.create_publisher(String, "chatter", 10, event_callbacks=callbacks)
    first = node.create_subscription(String, "chatter", print, 10)
    spin(lambda: events)
    assert events == [MatchedInfo(1, 1, 1, 1)]
    node.create_subscription(Bool, "chatter", print, 10)  # another type does not match
    second = node.create_subscription(String, "chatter", print, 10)
    spin(lambda: len(events) == 2)
    assert events[1] == MatchedInfo(2, 1, 2, 1)
    node.destroy_subscription(first)
    node.destroy_subscription(second)
    spin(lambda: events[-1].current_count == 0)
    assert sum(event.current_count_change for event in events) == 0
    node.destroy_publisher(publisher)
    known = len(events)
    node.create_subscription(String, "chatter", print, 10)
    node.executor.spin_once(timeout_sec=0.05)  # type: ignore[union-attr]
    assert len(events) == known


def test_subscription_is_told_of_publishers(node: Node, spin: Callable[..., None]) -> None:
    events: list[MatchedInfo] = []
    node.create_publisher(String, "chatter", 10)
    callbacks = SubscriptionEventCallbacks(matched=events.append)
    node.create_subscription(String, "chatter", print, 10, event_callbacks=callbacks)
    spin(lambda: events)  # what was there before counts too
    assert events == [MatchedInfo(1, 1, 1, 1)]


def test_lost_messages_are_counted(node: Node, spin: Callable[..., None]) -> None:
    events: list[MessageLostInfo] = []
    seen: list[Any] = []
    callbacks = SubscriptionEventCallbacks(message_lost=events.append)
    subscription = node.create_subscription(String, "chatter", seen.append, 10, event_callbacks=callbacks)
    key, session = subscription._endpoint.key, node.context.session.zenoh
    payload = bytes(serialize(String(data="x")))
    for sequence in (5, 6, 9, 10, 12):
        session.put(key, payload, attachment=encode_attachment(sequence, time.time_ns(), bytes(16)))
    spin(lambda: len(seen) == 5 and sum(event.total_count_change for event in events) == 3)
    assert events[-1].total_count == 3
