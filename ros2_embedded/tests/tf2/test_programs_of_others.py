"""What programs give to buffers beside times of rclpy."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from builtin_interfaces.msg import Duration as DurationMessage
from builtin_interfaces.msg import Time as TimeMessage
from geometry_msgs.msg import TransformStamped as MessageClass

import tf2_ros
from rclpy.clock_type import ClockType
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.time import Time


@pytest.fixture
def buffer() -> tf2_ros.Buffer:
    buffer = tf2_ros.Buffer()
    for second in (1, 3):
        transform = MessageClass(child_frame_id="arm")
        transform.header.frame_id = "world"
        transform.transform.translation.x = float(second)
        transform.header.stamp = Time(seconds=second) if second == 3 else Time(seconds=second).to_msg()
        buffer.set_transform(transform, "test")
    return buffer


def test_stamps_of_messages(buffer: tf2_ros.Buffer) -> None:
    stamp = TimeMessage(sec=2)
    assert buffer.lookup_transform("world", "arm", stamp).transform.translation.x == pytest.approx(2.0)
    assert buffer.can_transform("world", "arm", stamp, DurationMessage(nanosec=1))
    found = buffer.lookup_transform_full("world", stamp, "arm", TimeMessage(sec=1), "world")
    assert found.transform.translation.x == pytest.approx(1.0)
    with pytest.raises(TypeError, match="is no time"):
        buffer.lookup_transform("world", "arm", 2.0)


@pytest.mark.parametrize("kind", list(ClockType)[-3:])
def test_the_latest_time_compares_with_any_clock(buffer: tf2_ros.Buffer, kind: ClockType) -> None:
    latest = buffer.get_latest_common_time("world", "arm")
    assert latest == Time(seconds=3, clock_type=kind)
    assert Time(seconds=3, clock_type=kind) == latest
    assert latest > Time(seconds=2, clock_type=kind)


def test_names_that_programs_import() -> None:
    assert tf2_ros.TransformStamped is MessageClass
    stamped = tf2_ros.Stamped("anything", Time(seconds=1), "arm")
    assert (stamped.header.frame_id, stamped.header.stamp.sec) == ("arm", 1)


def test_a_jump_of_time_clears_the_buffer(buffer: tf2_ros.Buffer) -> None:
    buffer.time_jump_callback(None)  # type: ignore[arg-type]
    assert not buffer.can_transform("world", "arm", Time())


def test_velocity_of_a_frame_that_turns() -> None:
    buffer = tf2_ros.BufferCore()
    for step in range(5):
        transform = MessageClass(child_frame_id="wheel")
        transform.header.frame_id = "world"
        transform.header.stamp = Time(seconds=step)
        transform.transform.translation.x = 3.0 * step
        angle = 0.1 * step
        transform.transform.rotation.z = math.sin(angle / 2)
        transform.transform.rotation.w = math.cos(angle / 2)
        buffer.set_transform(transform, "test")
    span = Duration(seconds=2)
    linear, angular = buffer.lookupVelocityCore("wheel", "world", Time(seconds=2), span)
    assert linear == pytest.approx((3.0, 0.0, 0.0))
    assert angular == pytest.approx((0.0, 0.0, 0.1))
    rim = buffer.lookupVelocityFullCore(
        "wheel", "world", "world", (6.0, 1.0, 0.0), "world", Time(seconds=2), span
    )
    assert rim[0] == pytest.approx((2.9, 0.0, 0.0))  # above the centre at (6, 0, 0), which turns left
    latest = buffer.lookupVelocityCore("wheel", "world", Time(), DurationMessage(sec=4, nanosec=1000000))
    assert latest[0][0] == pytest.approx(3.0, abs=0.01)
    with pytest.raises(tf2_ros.InvalidArgumentException, match="no interval"):
        buffer.lookupVelocityCore("wheel", "world", Time(seconds=2), Duration())


def test_names_of_frames(buffer: tf2_ros.Buffer) -> None:
    assert buffer._getFrameStrings() == ["arm", "world"]
    assert buffer._frameExists("world")
    assert not buffer._frameExists("moon")


def test_a_lookup_that_waits_gives_the_transform_that_came() -> None:
    buffer = tf2_ros.Buffer()
    transform = MessageClass(child_frame_id="arm")
    transform.header.frame_id = "world"
    transform.header.stamp.sec = 1
    waiting = buffer.lookup_transform_async("world", "arm", Time(seconds=1))
    waiting.send(None)
    future = buffer.wait_for_transform_async("world", "arm", Time(seconds=1))
    assert not future.done()
    buffer.set_transform(transform, "test")
    assert future.result() == transform
    with pytest.raises(StopIteration) as stop:
        waiting.send(None)
    assert stop.value.value == transform


def test_a_listener_for_static_transforms_alone(node: Node, spin: Callable[..., None]) -> None:
    buffer = tf2_ros.Buffer()
    listener = tf2_ros.StaticTransformListener(buffer, node)
    assert node.count_subscribers("/tf") == 0
    transform = MessageClass(child_frame_id="arm")
    transform.header.frame_id = "world"
    tf2_ros.StaticTransformBroadcaster(node).sendTransform(transform)
    spin(lambda: buffer.can_transform("world", "arm", Time(seconds=9)))
    listener.unregister()


def test_a_listener_makes_its_own_node(node: Node, spin: Callable[..., None]) -> None:
    buffer = tf2_ros.Buffer()
    listener = tf2_ros.TransformListener(buffer, None, spin_thread=True)
    transform = MessageClass(child_frame_id="arm")
    transform.header.frame_id = "world"
    broadcaster = tf2_ros.TransformBroadcaster(node)
    spin(lambda: node.count_subscribers("/tf"))
    broadcaster.sendTransform(transform)
    spin(lambda: buffer.can_transform("world", "arm", Time()))
    listener.unregister()
    listener.node.destroy_node()
