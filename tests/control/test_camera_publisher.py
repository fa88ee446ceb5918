"""What a camera's pictures cost whom: JPEG is made for subscribers of `…/image_raw/compressed` alone."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import rclpy
from builtin_interfaces.msg import Time
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import CompressedImage, Image

from openral_control.ros import camera_publisher
from openral_control.ros.camera_publisher import ImageTopics
from openral_core.image_message import decode_compressed
from openral_core.ros.qos import NEWEST

PICTURE = np.zeros((48, 64, 3), np.uint8)
PICTURE[:, 32:] = 250, 120, 10


@pytest.fixture
def ros() -> Iterator[Callable[[Callable[[], object]], None]]:
    """Spin the nodes `camera` and `viewer` until something is so; they are its attributes."""
    context = rclpy.Context()
    context.init(domain_id=int(os.environ["ROS_DOMAIN_ID"]))
    executor = SingleThreadedExecutor(context=context)

    def until(condition: Callable[[], object]) -> None:
        end = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < end, "waited in vain"
            executor.spin_once(timeout_sec=0.05)

    for name in ("camera", "viewer"):
        node = rclpy.create_node(name, namespace="/openral", context=context)
        executor.add_node(node)
        setattr(until, name, node)
    yield until
    executor.shutdown()
    context.try_shutdown()


def test_pictures_are_encoded_while_somebody_subscribes(ros: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    encoded: list[bytes] = []
    encode = camera_publisher.encode_jpeg

    def counted(*args: Any) -> bytes:
        encoded.append(encode(*args))
        return encoded[-1]

    monkeypatch.setattr(camera_publisher, "encode_jpeg", counted)
    topics = ImageTopics(ros.camera, "front", (64, 48), "front_optical_frame")
    raw: list[Any] = []
    packed: list[Any] = []
    count = ros.camera.count_subscribers
    ros.viewer.create_subscription(Image, "cameras/front/image_raw", raw.append, NEWEST)
    ros(lambda: count("cameras/front/image_raw"))
    topics.publish(Time(sec=1), PICTURE)
    ros(lambda: raw)
    assert encoded == []
    name = "cameras/front/image_raw/compressed"
    subscription = ros.viewer.create_subscription(CompressedImage, name, packed.append, NEWEST)
    ros(lambda: count(name))
    topics.publish(Time(sec=2), PICTURE)
    ros(lambda: packed)
    assert [bytes(message.data) for message in packed] == encoded
    [message] = packed
    assert (message.header.stamp.sec, message.header.frame_id) == (2, "front_optical_frame")
    assert message.format == "rgb8; jpeg compressed bgr8"
    shown = decode_compressed(message.data)
    assert shown is not None
    assert np.abs(shown.astype(int) - PICTURE).max() < 60  # along the edge
    assert np.abs(shown.astype(int) - PICTURE).mean() < 3
    ros.viewer.destroy_subscription(subscription)
    ros(lambda: not count(name))
    topics.publish(Time(sec=3), PICTURE)
    ros(lambda: any(message.header.stamp.sec == 3 for message in raw))
    assert len(encoded) == 1
