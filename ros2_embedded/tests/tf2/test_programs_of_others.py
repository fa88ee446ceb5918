"""What programs give to buffers beside times of rclpy."""

from __future__ import annotations

import pytest
from builtin_interfaces.msg import Duration as DurationMessage
from builtin_interfaces.msg import Time as TimeMessage
from geometry_msgs.msg import TransformStamped as MessageClass

import tf2_ros
from rclpy.clock_type import ClockType
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
