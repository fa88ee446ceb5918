"""Which topic a console looks at a camera on: raw where there is one, JPEG where that is asked for, or alone."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import CompressedImage, Image

from openral_console.live.deployment import LiveDeployment
from openral_console.ros.console_node import ConsoleNode
from openral_control.ros.camera_publisher import ImageTopics
from openral_core.image_message import encode_jpeg
from openral_core.ros.qos import NEWEST

PICTURE = np.full((48, 64, 3), (200, 100, 20), np.uint8)
COMPRESSED = ["--ros-args", "-p", "compressed:=true"]


@pytest.fixture(params=[[], COMPRESSED], ids=["raw", "compressed"])
def console(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A console that is watched, and the node of two cameras: `both`, and `thin` that has JPEG alone."""
    rclpy.init(args=request.param, domain_id=int(os.environ["ROS_DOMAIN_ID"]))
    deployment = LiveDeployment()
    node, cameras = ConsoleNode(deployment), Node("cameras", namespace="/openral")
    executor = SingleThreadedExecutor()
    for each in (node, cameras):
        executor.add_node(each)
    yield SimpleNamespace(
        deployment=deployment, cameras=cameras, executor=executor, compressed=bool(request.param)
    )
    executor.shutdown()
    for each in (node, cameras):
        each.destroy_node()
    rclpy.try_shutdown()


def turn(console: Any, condition: Callable[[], object], each: Callable[[], object]) -> None:
    """Do something, and spin, until something is so."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, console.deployment.cameras
        each()
        console.executor.spin_once(timeout_sec=0.05)


def test_a_camera_is_looked_at_as_asked_for_and_as_it_can_be(console: Any) -> None:
    node = console.cameras
    both = ImageTopics(node, "both", (64, 48), "both_optical_frame")
    raw, packed = (f"cameras/both/image_raw{suffix}" for suffix in ("", "/compressed"))
    thin = node.create_publisher(CompressedImage, "cameras/thin/image_raw/compressed", NEWEST)
    message = CompressedImage(format="jpeg", data=encode_jpeg(PICTURE, 90))
    console.deployment.watchers = 1
    seen = console.deployment
    turn(
        console,
        lambda: all(name in seen.cameras and seen.cameras[name].count for name in ("both", "thin")),
        lambda: (both.publish(node.get_clock().now().to_msg(), PICTURE), thin.publish(message)),
    )
    looks_at = node.count_subscribers(raw), node.count_subscribers(packed)
    assert looks_at == ((0, 1) if console.compressed else (1, 0))
    for feed in seen.cameras.values():
        shown = cv2.imdecode(np.frombuffer(feed.jpeg(640), np.uint8), cv2.IMREAD_COLOR)[..., ::-1]
        assert np.abs(shown.astype(int) - PICTURE).mean() < 5
    broken = CompressedImage(format="jpeg", data=b"no picture")
    turn(console, lambda: "10 bytes" in seen.cameras["thin"].fault, lambda: thin.publish(broken))


def test_a_name_that_ros_does_not_allow_hides_no_camera(
    console: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = ConsoleNode.get_topic_names_and_types

    def announced(node: Any) -> list[tuple[str, list[str]]]:
        names = (f"/openral/cameras/{name}/image_raw" for name in ("0front", "é", "x" * 300))
        return [*((name, ["sensor_msgs/msg/Image"]) for name in names), *real(node)]

    monkeypatch.setattr(ConsoleNode, "get_topic_names_and_types", announced)
    console.cameras.create_publisher(CompressedImage, "cameras/thin/image_raw/compressed", NEWEST)
    console.deployment.watchers = 1
    turn(console, lambda: console.deployment.cameras, lambda: None)
    assert set(console.deployment.cameras) == {"thin"}


def test_a_camera_is_looked_at_as_asked_for_also_where_that_is_found_later(console: Any) -> None:
    """Over a thin network names arrive one after the other, and somebody may look where there is nothing."""
    node = console.cameras
    topics = [("cameras/front/image_raw", Image), ("cameras/front/image_raw/compressed", CompressedImage)]
    (wanted, kind), (other, other_kind) = topics[::-1] if console.compressed else topics
    node.create_subscription(kind, wanted, lambda message: None, NEWEST)
    node.create_publisher(other_kind, other, NEWEST)
    console.deployment.watchers = 1
    turn(console, lambda: node.count_subscribers(other) == 1, lambda: None)
    assert node.count_subscribers(wanted) == 1  # that of the node itself
    node.create_publisher(kind, wanted, NEWEST)
    turn(console, lambda: node.count_subscribers(wanted) == 2, lambda: None)
    turn(console, lambda: node.count_subscribers(other) == 0, lambda: None)
