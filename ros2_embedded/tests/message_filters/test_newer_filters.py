"""Filters that came to Jazzy after 2024: a chain, filters of changes, inputs put into the order of time."""

from __future__ import annotations

import time
from typing import Any

import pytest
from geometry_msgs.msg import PointStamped, PoseStamped
from std_msgs.msg import ColorRGBA, Int32

import rclpy
from message_filters import Cache, Chain, SimpleFilter
from message_filters.delta_filter import (
    CachedComparisonHandler,
    ComparisonFilter,
    ComparisonHandler,
    DeltaCompare,
    DeltaFilter,
    PathDeltaFilter,
)
from message_filters.input_aligner import InputAligner, QueueStatus
from rclpy.duration import Duration
from rclpy.time import Time


def at(milliseconds: int) -> Any:
    """A message with a time."""
    message = PointStamped()
    message.header.stamp = Time(nanoseconds=milliseconds * 10**6).to_msg()
    message.point.x = float(milliseconds)
    return message


def aligner_of(inputs: int, got: list[int], timeout_ms: int = 1000, period_ms: int = 0) -> InputAligner:
    """An aligner whose output, as milliseconds, goes to a list."""
    aligner = InputAligner(Duration(nanoseconds=timeout_ms * 10**6))
    aligner.connectInput(*[SimpleFilter() for _ in range(inputs)])
    for index in range(inputs):
        aligner.registerCallback(index, lambda message: got.append(int(message.point.x)))
        if period_ms:
            aligner.setInputPeriod(index, Duration(nanoseconds=period_ms * 10**6))
    return aligner


def give(aligner: InputAligner, **inputs: list[int]) -> None:
    """Add messages to inputs that are named `i0`, `i1` and so on."""
    for name, times in inputs.items():
        for milliseconds in times:
            aligner.add(at(milliseconds), int(name[1:]))


def test_a_callback_that_is_taken_back_is_not_called() -> None:
    source = SimpleFilter()
    got: list[str] = []
    first = source.registerCallback(lambda message: got.append(f"first {message}"))
    second = source.registerCallback(lambda message: got.append(f"second {message}"))
    source.unregisterCallback(first)
    source.unregisterCallback(first)
    source.unregisterCallback(77)
    source.signalMessage(1)
    source.unregisterCallback(second)
    source.registerCallback(lambda message: got.append(f"third {message}"))
    source.unregisterCallback(second)
    source.signalMessage(2)
    assert got == ["second 1", "third 2"]


def test_a_chain_passes_messages_from_filter_to_filter() -> None:
    source, chain = SimpleFilter(), Chain()
    got: list[Any] = []
    chain.registerCallback(got.append)
    chain.connectInput(source)
    source.signalMessage(at(1))
    assert got == [at(1)]
    with pytest.raises(KeyError):
        chain.getFilter(0)
    early, late = Cache(None, 5), Cache(None, 5)
    chain.addFilter(early)
    source.signalMessage(at(2))
    chain.addFilter(late)
    chain.add(at(3))
    assert got == [at(1), at(2), at(3)]
    assert (early.cache_msgs, late.cache_msgs) == ([at(2), at(3)], [at(3)])
    assert chain.getFilter(0) is early
    assert chain.getFilter(1) is late
    with pytest.raises(RuntimeError):
        chain.connectInput(SimpleFilter())
    with pytest.raises(RuntimeError):
        Chain(source).connectInput(source)


def test_a_message_that_differs_from_the_last_accepted_one_is_passed_on() -> None:
    source = SimpleFilter()
    changes = DeltaFilter([lambda m: m.r, lambda m: m.g], source)
    got: list[Any] = []
    changes.registerCallback(got.append)
    for red, green, blue in ((0, 0, 0), (0, 0, 9), (1, 0, 9), (1, 2, 9), (1, 2, 8), (0, 0, 0)):
        source.signalMessage(ColorRGBA(r=float(red), g=float(green), b=float(blue)))
    assert [(m.r, m.g, m.b) for m in got] == [(0, 0, 0), (1, 0, 9), (1, 2, 9), (0, 0, 0)]
    with pytest.raises(RuntimeError):
        changes.connectInput(source)


def test_changes_are_found_along_paths() -> None:
    changes = PathDeltaFilter(["pose.position.x", "header.frame_id"])
    got: list[Any] = []
    changes.registerCallback(got.append)
    for x, frame in ((0.0, ""), (0.0, ""), (1.0, ""), (1.0, "map")):
        message = PoseStamped()
        message.pose.position.x, message.header.frame_id = x, frame
        changes.add(message)
    assert [(m.pose.position.x, m.header.frame_id) for m in got] == [(0.0, ""), (1.0, ""), (1.0, "map")]
    wrong = PathDeltaFilter(["pose.speed"])
    wrong.add(PoseStamped())
    with pytest.raises(RuntimeError, match="speed"):
        wrong.add(PoseStamped())


def test_only_plain_values_are_compared() -> None:
    compare = DeltaCompare([lambda message: message.header])
    assert compare.message_fits(PoseStamped())
    with pytest.raises(TypeError):
        compare.message_fits(PoseStamped())


def test_programs_compare_in_their_own_way() -> None:
    class Even(ComparisonHandler):
        def message_fits(self, message: Any) -> bool:
            return message.data % 2 == 0

    class Farther(CachedComparisonHandler):
        _field_getters = (lambda message: message.data,)

        def do_fields_fit(self, field_a: Any, field_b: Any) -> bool:
            return abs(field_a - field_b) > 2

    got: list[list[int]] = [[], []]
    for handler, seen in zip((Even(), Farther()), got, strict=True):
        chosen = ComparisonFilter(handler)
        chosen.registerCallback(lambda message, into: into.append(message.data), seen)
        for value in range(8):
            chosen.add(Int32(data=value))
    assert got == [[0, 2, 4, 6], [0, 3, 6]]
    with pytest.raises(NotImplementedError):
        Even().do_fields_fit(1, 2)


def test_inputs_come_out_in_the_order_of_time() -> None:
    got: list[int] = []
    aligner = aligner_of(4, got, period_ms=4)
    give(aligner, i2=[3, 7], i0=[1, 5, 9, 9], i3=[2, 6], i1=[4, 8])
    assert got == []
    aligner.dispatchMessages()
    assert got == [1, 2, 3, 4, 5, 6, 7, 8, 9, 9]


def test_an_empty_input_is_waited_for_until_it_is_too_late() -> None:
    got: list[int] = []
    aligner = aligner_of(2, got, timeout_ms=10, period_ms=2)
    give(aligner, i0=[1, 3, 5, 7, 15], i1=[2, 4])
    aligner.dispatchMessages()
    assert got == [1, 2, 3, 4, 5]
    give(aligner, i0=[17])
    aligner.dispatchMessages()
    assert got == [1, 2, 3, 4, 5, 7, 15, 17]


def test_an_input_without_a_period_is_waited_for_from_its_last_message() -> None:
    got: list[int] = []
    aligner = aligner_of(3, got, timeout_ms=10)  # the third one never sends and is not waited for
    give(aligner, i0=[6], i1=[1, 3])
    aligner.dispatchMessages()
    assert got == [1, 3]
    give(aligner, i0=[16])
    aligner.dispatchMessages()
    assert got == [1, 3, 6, 16]


def test_late_messages_are_dropped_and_counted() -> None:
    got: list[int] = []
    aligner = aligner_of(2, got, timeout_ms=10, period_ms=2)
    give(aligner, i1=[2], i0=[3, 5])
    assert aligner.getQueueStatus(0) == QueueStatus(
        active=False, queue_size=2, msgs_processed=0, msgs_dropped=0
    )
    aligner.dispatchMessages()
    assert got == [2, 3]
    assert aligner.getQueueStatus(0) == QueueStatus(True, 1, 1, 0)
    assert aligner.getQueueStatus(1) == QueueStatus(True, 0, 1, 0)
    give(aligner, i0=[1, 17])
    aligner.dispatchMessages()
    assert got == [2, 3, 5, 17]
    assert aligner.getQueueStatus(0) == QueueStatus(True, 0, 3, 1)
    assert aligner.getQueueStatus(1) == QueueStatus(False, 0, 1, 0)


def test_an_aligner_that_is_connected_anew_forgets_what_was_before() -> None:
    sources = [SimpleFilter() for _ in range(3)]
    old: list[Any] = []
    new: list[Any] = []
    aligner = InputAligner(Duration(seconds=1), *sources)
    aligner.registerCallback(0, old.append)
    sources[0].signalMessage(at(1))
    aligner.connectInput(filters=sources[:2])
    assert len(aligner.event_queues) == 2
    aligner.registerCallback(0, lambda message, name: new.append((message, name)), "first")
    sources[2].signalMessage(at(2))
    sources[0].signalMessage(at(3))
    aligner.dispatchMessages()
    assert (old, new) == ([], [(at(3), "first")])
    aligner.disconnectAll()
    sources[0].signalMessage(at(4))
    aligner.dispatchMessages()
    assert len(new) == 1
    assert len(InputAligner(Duration(seconds=1), filters=sources).event_queues) == 3


def test_an_aligner_has_a_name() -> None:
    aligner = InputAligner(Duration(seconds=1))
    assert aligner.getName() == ""
    aligner.setName("cameras")
    assert aligner.getName() == "cameras"
    aligner.dispatchMessages()


def test_a_callback_of_an_aligner_may_add_and_dispatch() -> None:
    got: list[int] = []
    aligner = aligner_of(1, got)

    def again(message: Any) -> None:
        if message.point.x < 3:
            aligner.add(at(int(message.point.x) + 1), 0)
            aligner.dispatchMessages()

    aligner.registerCallback(0, again)
    give(aligner, i0=[1])
    aligner.dispatchMessages()
    assert got == [1, 2, 3]


def test_a_timer_of_a_node_dispatches() -> None:
    rclpy.init()
    try:
        node = rclpy.create_node("aligner")
        got: list[int] = []
        aligner = aligner_of(2, got)
        aligner.setupDispatchTimer(node, Duration(seconds=0.01))
        give(aligner, i1=[2], i0=[1])
        end = time.monotonic() + 20
        while len(got) < 2 and time.monotonic() < end:
            rclpy.spin_once(node, timeout_sec=0.1)
        assert got[:1] == [1]
        node.destroy_node()
    finally:
        rclpy.shutdown()
