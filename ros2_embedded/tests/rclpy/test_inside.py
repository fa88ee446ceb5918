"""Messages that stay inside one process: what is shared, what is copied, what each subscription gets."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sensor_msgs.msg import Image, PointCloud2
from std_msgs.msg import Float32MultiArray

from rclpy.node import Node
from rclpy.serialization import deserialize_message
from ros2_embedded.rosidl.classes import SerializationError

Spin = Callable[..., None]
SIZE = 60_000


def read_only(values: Any) -> Any:
    """A numpy array that nobody may change."""
    values.flags.writeable = False
    return values


def exchange(node: Node, spin: Spin, message: Any, **options: Any) -> Any:
    """What two subscriptions of the same process get, which must be the same."""
    heard: list[Any] = []
    for _ in range(2):
        node.create_subscription(type(message), "inside", heard.append, 10, **options)
    node.create_publisher(type(message), "inside", 10).publish(message)
    spin(lambda: len(heard) == 2)
    assert heard[0] == heard[1]
    return heard[0]


def test_read_only_arrays_are_not_copied(node: Node, spin: Spin) -> None:
    pixels = read_only(np.arange(SIZE, dtype=np.uint8))
    message = Image(height=100, width=200, encoding="rgb8", step=600, data=pixels)
    message.header.frame_id = "camera"
    got = exchange(node, spin, message)
    assert np.shares_memory(got.data, pixels)
    assert got == message
    assert got.header is not message.header


def test_bytes_and_arrays_of_more_dimensions_are_not_copied(node: Node, spin: Spin) -> None:
    cloud = PointCloud2(data=bytes(SIZE))
    assert np.shares_memory(exchange(node, spin, cloud).data, np.frombuffer(cloud.data, np.uint8))
    numbers = read_only(np.zeros((100, 100), np.float32))
    got = exchange(node, spin, Float32MultiArray(data=numbers)).data
    assert np.shares_memory(got, numbers)
    assert got.shape == (10_000,)


@pytest.mark.parametrize("kind", ["view", "mapped"])
def test_read_only_views_of_what_may_change_are_copied(node: Node, spin: Spin, kind: str) -> None:
    buffer = np.zeros(SIZE, np.uint8)
    mapped = np.frombuffer(memoryview(buffer).toreadonly(), np.uint8)  # as a camera's frames are
    message = Image(data=mapped if kind == "mapped" else read_only(buffer.view()))
    got = exchange(node, spin, message)
    buffer[:] = 7  # the next frame
    assert not np.any(got.data)


@pytest.mark.parametrize("make", [np.array, lambda values: array("B", values)], ids=["numpy", "array"])
def test_what_may_change_is_copied(node: Node, spin: Spin, make: Callable[[Any], Any]) -> None:
    heard: list[Any] = []
    node.create_subscription(Image, "inside", heard.append, 10)
    pixels = make(np.zeros(SIZE, np.uint8))
    node.create_publisher(Image, "inside", 10).publish(Image(data=pixels))
    pixels[0] = 7  # the publisher fills its buffer again
    spin(lambda: heard)
    assert isinstance(heard[0].data, array)
    assert heard[0].data[0] == 0


def test_other_types_of_numbers_are_converted(node: Node, spin: Spin) -> None:
    numbers = read_only(np.arange(SIZE, dtype=np.float64))
    got = exchange(node, spin, Float32MultiArray(data=numbers)).data
    assert isinstance(got, array)
    assert got.typecode == "f"


def test_raw_subscriptions_get_whole_messages(node: Node, spin: Spin) -> None:
    message = Image(data=read_only(np.ones(SIZE, np.uint8)))
    assert deserialize_message(exchange(node, spin, message, raw=True), Image) == message


def test_wrong_fields_beside_a_shared_one_are_refused(node: Node) -> None:
    node.create_subscription(Image, "inside", print, 10)
    publisher = node.create_publisher(Image, "inside", 10)
    with pytest.raises(SerializationError, match="height"):
        publisher.publish(Image(height="high", data=bytes(SIZE)))
