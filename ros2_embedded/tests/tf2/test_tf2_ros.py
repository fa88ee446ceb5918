"""Broadcasters, listener and buffer between nodes."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

import pytest
from geometry_msgs.msg import (
    PointStamped,
    PoseStamped,
    PoseWithCovarianceStamped,
    Quaternion,
    TransformStamped,
    Vector3Stamped,
)
from std_msgs.msg import Header
from tf2_msgs.srv import FrameGraph

import tf2_geometry_msgs
from rclpy.duration import Duration
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.time import Time
from tf2_ros import (
    Buffer,
    ExtrapolationException,
    LookupException,
    StaticTransformBroadcaster,
    TransformBroadcaster,
    TransformListener,
    TypeException,
)


def make(parent: str, child: str, stamp: float = 0.0, x: float = 0.0, yaw: float = 0.0) -> Any:
    """A transform: shift along x [m], then turn about z [rad]."""
    message = TransformStamped(child_frame_id=child)
    message.header.frame_id = parent
    message.header.stamp = Time(nanoseconds=round(stamp * 1e9)).to_msg()
    message.transform.translation.x = x
    message.transform.rotation.z, message.transform.rotation.w = math.sin(yaw / 2), math.cos(yaw / 2)
    return message


def test_static_transforms_reach_late_listeners(node: Node, spin: Callable[..., None]) -> None:
    broadcaster = StaticTransformBroadcaster(node)
    broadcaster.sendTransform(make("base", "camera", x=1.0))
    broadcaster.sendTransform([make("base", "lidar", x=2.0), make("base", "camera", x=3.0)])
    buffer = Buffer()
    TransformListener(buffer, node)
    spin(lambda: buffer.can_transform("camera", "lidar", Time()))
    assert buffer.lookup_transform("base", "camera", Time()).transform.translation.x == 3.0


def test_dynamic_transforms(node: Node, spin: Callable[..., None]) -> None:
    buffer = Buffer()
    listener = TransformListener(buffer, node)
    broadcaster = TransformBroadcaster(node)
    spin(lambda: node.count_subscribers("/tf"))
    broadcaster.sendTransform([make("world", "base", 1.0, 1.0), make("world", "base", 2.0, 2.0)])
    spin(lambda: buffer.can_transform("world", "base", Time(seconds=2)))
    assert (
        buffer.lookup_transform("world", "base", Time(nanoseconds=1_500_000_000)).transform.translation.x
        == 1.5
    )
    with pytest.raises(ExtrapolationException):
        buffer.lookup_transform("world", "base", Time(seconds=3), Duration(nanoseconds=1000))
    listener.unregister()
    assert node.count_subscribers("/tf") == 0


def test_bad_transform_does_not_end_the_listener(node: Node, spin: Callable[..., None]) -> None:
    buffer = Buffer()
    TransformListener(buffer, node)
    broadcaster = TransformBroadcaster(node)
    spin(lambda: node.count_subscribers("/tf"))
    broadcaster.sendTransform([make("a", "a"), make("a", "b", 1.0)])
    spin(lambda: buffer.can_transform("a", "b", Time()))


def test_lookup_waits_for_the_transform(node: Node) -> None:
    buffer = Buffer()
    listener = TransformListener(buffer, node, spin_thread=True)
    other = Node("sender")
    broadcaster = TransformBroadcaster(other)
    timer = other.create_timer(0.05, lambda: broadcaster.sendTransform(make("world", "base", 1.0, 4.0)))
    executor = SingleThreadedExecutor()
    executor.add_node(other)
    with pytest.raises(LookupException):
        buffer.lookup_transform("world", "base", Time(seconds=1), Duration(nanoseconds=1))
    sender = threading.Thread(target=executor.spin)
    sender.start()
    found = buffer.lookup_transform("world", "base", Time(seconds=1), Duration(seconds=20))
    assert found.transform.translation.x == 4.0
    timer.cancel()
    executor.shutdown()
    sender.join()
    listener.unregister()
    other.destroy_node()


def test_waiting_in_a_coroutine(node: Node, spin: Callable[..., None]) -> None:
    buffer = Buffer()
    future = buffer.wait_for_transform_async("a", "b", Time(seconds=1))
    assert not future.done()
    executor = node.executor
    assert executor is not None
    task = executor.create_task(buffer.lookup_transform_async("a", "b", Time(seconds=1)))
    executor.spin_once(timeout_sec=0.01)
    assert not task.done()
    buffer.set_transform(make("a", "b", 1.0, 5.0), "test")
    spin(task.done)
    assert future.result() == make("a", "b", 1.0, 5.0)
    assert task.result().transform.translation.x == 5.0
    assert buffer._listeners == []


@pytest.mark.parametrize("no_time", [1.0, None])
def test_a_question_without_a_time_is_refused_and_not_asked_again(no_time: Any) -> None:
    buffer, transform = Buffer(), TransformStamped(child_frame_id="table")
    transform.header.frame_id, transform.transform.rotation.w = "world", 1.0
    with pytest.raises(TypeError, match="is no time"):
        buffer.wait_for_transform_async("world", "table", no_time)
    with pytest.raises(TypeError, match="is no time"):
        buffer.wait_for_transform_full_async("world", no_time, "table", Time(), "world")
    buffer.set_transform_static(transform, "a stranger")
    with pytest.raises(TypeError, match="is no time"):
        buffer.wait_for_transform_async("world", "table", no_time)
    buffer.set_transform_static(transform, "a stranger")


def test_debug_tuple_says_why(node: Node) -> None:
    possible, reason = Buffer().can_transform("a", "b", Time(), return_debug_tuple=True)
    assert (possible, '"a" passed' in reason) == (False, True)


def test_frames_service(node: Node, spin: Callable[..., None]) -> None:
    buffer = Buffer(node=node)
    buffer.set_transform_static(make("base", "camera"), "urdf")
    future = node.create_client(FrameGraph, "tf2_frames").call_async(FrameGraph.Request())
    spin(future.done)
    assert "parent: 'base'" in future.result().frame_yaml


def test_transform_of_messages() -> None:
    buffer = Buffer()
    buffer.set_transform_static(make("world", "camera", x=1.0, yaw=math.pi / 2), "urdf")
    point = PointStamped(header=Header(frame_id="camera"))
    point.point.x = 2.0
    moved = buffer.transform(point, "world")
    assert moved.header.frame_id == "world"
    assert (moved.point.x, moved.point.y) == (pytest.approx(1.0), pytest.approx(2.0))
    pose = PoseStamped(header=Header(frame_id="camera"))
    turned = buffer.transform(pose, "world").pose
    assert (turned.position.x, turned.orientation.z) == (1.0, pytest.approx(math.sin(math.pi / 4)))
    with pytest.raises(TypeException):
        buffer.transform(Header(frame_id="camera"), "world")
    full = buffer.transform_full(point, "world", Time(), "world")
    assert full.point.y == pytest.approx(2.0)


def test_vectors_are_not_shifted_and_covariances_turn() -> None:
    transform = make("world", "camera", x=1.0, yaw=math.pi / 2)
    vector = Vector3Stamped()
    vector.vector.x = 1.0
    turned = tf2_geometry_msgs.do_transform_vector3(vector, transform)
    assert (turned.vector.x, turned.vector.y) == (pytest.approx(0.0), pytest.approx(1.0))
    pose = PoseWithCovarianceStamped()
    pose.pose.covariance[0] = 4.0  # along x
    covariance = tf2_geometry_msgs.do_transform_pose_with_covariance_stamped(pose, transform).pose.covariance
    assert (covariance[0], covariance[7]) == (pytest.approx(0.0), pytest.approx(4.0))


def test_a_turned_pose_has_the_quaternion_that_tf2_gives() -> None:
    transform = make("world", "camera")
    transform.transform.rotation = Quaternion(x=1.0, w=0.0)
    pose = PoseWithCovarianceStamped()
    pose.pose.pose.orientation = Quaternion(x=1.0, w=0.0)
    turned = tf2_geometry_msgs.do_transform_pose_with_covariance_stamped(pose, transform)
    assert turned.pose.pose.orientation == Quaternion(w=1.0)  # and not -1, which is the same rotation
