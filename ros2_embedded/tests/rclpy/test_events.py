"""Events of publishers and subscriptions: matched endpoints, lost messages."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from std_msgs.msg import Bool, String

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.event_handler import (
    MatchedEvents,
    MatchedInfo,
    MessageLostInfo,
    PublisherEventCallbacks,
    SubscriptionEventCallbacks,
)
from rclpy.node import Node
from ros2_embedded.graph import GraphCache
from ros2_embedded.rosidl.classes import serialize
from ros2_embedded.wire.keys import dds_type, encode_attachment
from ros2_embedded.wire.qos_text import WireQoS
from ros2_embedded.wire.tokens import PUBLISHER, EndpointRecord, endpoint_token


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


def test_two_threads_that_look_at_once_end_with_the_newest_graph() -> None:
    class SlowGraph(GraphCache):
        """One thread has looked at the graph, and another one looks before it goes on."""

        def endpoints(self, kinds: Iterable[str] = (), name: str | None = None) -> list[EndpointRecord]:
            found = super().endpoints(kinds, name)
            if threading.current_thread() is slow:
                has_looked.set()
                other_is_through.wait(0.5)
            return found

    graph, has_looked, other_is_through = SlowGraph(), threading.Event(), threading.Event()
    slow: threading.Thread | None = None
    infos: list[MatchedInfo] = []
    place = (PUBLISHER, "/chatter", "std_msgs/msg/String")
    matched = MatchedEvents(infos.append, MutuallyExclusiveCallbackGroup(), graph, place)
    slow = threading.Thread(target=graph.notify)
    slow.start()
    assert has_looked.wait(60)
    endpoint = ("/chatter", dds_type("std_msgs/msg/String"), "RIHS01_0")
    graph.add(endpoint_token(0, "1f", 1, 2, PUBLISHER, ("/", "talker"), endpoint, WireQoS()))
    other_is_through.set()
    slow.join(60)
    call = matched.take()
    assert call is not None
    call()
    assert infos == [MatchedInfo(1, 1, 1, 1)]


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
